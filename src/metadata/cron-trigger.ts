/** Cron triggers: calls of a webhook by a schedule. */
import { jsonEqual, type Json } from '../util/json.ts';
import { at } from '../util/path.ts';
import {
  anyJson,
  bool,
  type Codec,
  count,
  defaulted,
  int,
  leaf,
  like,
  nonEmptyText,
  object,
  optional,
  parseFailed,
  required,
  text,
} from './codec.ts';
import { orNearest } from './decode-rules.ts';
import { cronExpression } from './cron-expression.ts';
import { type HeaderDefinition, headersCodec, webhookHeaders } from './environment-template.ts';
import { LONGEST_S, MOST_RETRIES, type RetryPolicy } from './retry-policy.ts';
import { type Signature, signatureCodec } from './signature.ts';
import { type RequestTransform, requestTransformCodec, type ResponseTransform, responseTransformCodec } from './transform.ts';
import type { WithUnknownKeys } from './unknown-keys.ts';

export interface CronTrigger extends WithUnknownKeys {
  readonly name: string;
  /** A template. */
  readonly webhook: string;
  /** A cron expression, in UTC. */
  readonly schedule: string;
  readonly payload?: Json;
  readonly retryConf: ScheduledRetryPolicy;
  readonly headers: readonly HeaderDefinition[];
  /** Whether it is exported. */
  readonly includeInMetadata: boolean;
  readonly comment?: string;
  readonly requestTransform?: RequestTransform;
  readonly responseTransform?: ResponseTransform;
  readonly signature?: Signature;
}

export interface ScheduledRetryPolicy extends RetryPolicy {
  /** Later than this it is not delivered at all. */
  readonly toleranceSeconds: number;
}

const NO_RETRIES: ScheduledRetryPolicy = { numRetries: 0, intervalSeconds: 10, timeoutSeconds: 60, toleranceSeconds: 6 * 60 * 60 };

const retries: Codec<number> = leaf(
  int.name,
  (json, path) => {
    const value = int.decode(json, path);
    if (value < 0) return orNearest(0, parseFailed('num_retries cannot be a negative value', path));
    if (value > MOST_RETRIES) return orNearest(MOST_RETRIES, parseFailed(`num_retries cannot be more than ${MOST_RETRIES}`, path));
    return value;
  },
  (value) => value,
  { says: `A whole number from 0 to ${MOST_RETRIES}.` },
);

const seconds = (what: string): Codec<number> => count(what, LONGEST_S);

const written = object('STRetryConf', {
  numRetries: defaulted(retries, () => NO_RETRIES.numRetries),
  retryIntervalSeconds: defaulted(seconds('retry_interval_seconds'), () => NO_RETRIES.intervalSeconds),
  timeoutSeconds: defaulted(seconds('timeout_seconds'), () => NO_RETRIES.timeoutSeconds),
  toleranceSeconds: defaulted(seconds('tolerance_seconds'), () => NO_RETRIES.toleranceSeconds),
});

/** `retry_conf` of schedules. */
export const scheduledRetryCodec: Codec<ScheduledRetryPolicy> = leaf(
  written.name,
  (json, path) => {
    const { retryIntervalSeconds, timeoutSeconds, ...rest } = written.decode(json, path);
    const positive =
      timeoutSeconds > 0
        ? timeoutSeconds
        : orNearest(1, parseFailed('timeout_seconds is to be a positive number', at(path, 'timeout_seconds')));
    return { ...rest, timeoutSeconds: positive, intervalSeconds: retryIntervalSeconds };
  },
  ({ intervalSeconds, ...rest }) => written.encode({ ...rest, retryIntervalSeconds: intervalSeconds }),
  like(written),
);

export const scheduledRetry = defaulted<ScheduledRetryPolicy>(
  scheduledRetryCodec,
  () => NO_RETRIES,
  (policy) => jsonEqual(scheduledRetryCodec.encode(policy), scheduledRetryCodec.encode(NO_RETRIES)),
);

/** The keys of an entry of `cron_triggers`, in the order of the exported document. */
export const cronTriggerFields = {
  name: required(nonEmptyText),
  webhook: required(nonEmptyText),
  schedule: required(cronExpression),
  includeInMetadata: required(bool),
  payload: optional(anyJson),
  retryConf: scheduledRetry,
  headers: webhookHeaders,
  comment: optional(text),
  requestTransform: optional(requestTransformCodec),
  responseTransform: optional(responseTransformCodec),
  signature: optional(signatureCodec),
};

/** One entry of `cron_triggers`. */
export const cronTriggerCodec: Codec<CronTrigger> = object('CronTriggerMetadata', cronTriggerFields);

/** All of it, also what a document leaves out because it is the default. */
export function wholeCronTrigger(trigger: CronTrigger): Json {
  const { name, webhook, schedule, payload = null, headers, retryConf, includeInMetadata } = trigger;
  const { comment, requestTransform, responseTransform, signature } = trigger;
  return {
    name,
    webhook,
    schedule,
    payload,
    retry_conf: scheduledRetryCodec.encode(retryConf),
    headers: headersCodec.encode(headers),
    include_in_metadata: includeInMetadata,
    ...(comment === undefined ? {} : { comment }),
    ...(requestTransform === undefined ? {} : { request_transform: requestTransformCodec.encode(requestTransform) }),
    ...(responseTransform === undefined ? {} : { response_transform: responseTransformCodec.encode(responseTransform) }),
    ...(signature === undefined ? {} : { signature: signatureCodec.encode(signature) }),
  };
}

export type CronTriggers = ReadonlyMap<string, CronTrigger>;

/** Those that stand in documents. */
export function exportedCronTriggers(triggers: CronTriggers): CronTriggers {
  const exported = new Map([...triggers].filter(([, { includeInMetadata }]) => includeInMetadata));
  return exported.size === triggers.size ? triggers : exported;
}
