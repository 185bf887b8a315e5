/** Cron triggers: scheduled calls of a webhook. */
import { jsonEqual, type Json } from '../util/json.ts';
import { at } from '../util/path.ts';
import {
  anyJson,
  bool,
  type Codec,
  nonNegativeInt,
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
import { clampOrThrow } from './decode-rules.ts';
import { cronExpression } from './cron-expression.ts';
import { type HeaderDefinition, headersCodec, webhookHeaders } from './environment-template.ts';
import { MAX_DELAY_SECONDS, MAX_RETRIES, type RetryPolicy } from './retry-policy.ts';
import { type Signature, signatureCodec } from './signature.ts';
import { type RequestTransform, requestTransformCodec, type ResponseTransform, responseTransformCodec } from './transform.ts';
import type { WithUnknownKeys } from './unknown-keys.ts';

export interface CronTrigger extends WithUnknownKeys {
  readonly name: string;
  /** URL template. */
  readonly webhook: string;
  /** Cron expression, in UTC. */
  readonly schedule: string;
  readonly payload?: Json;
  readonly retryConf: ScheduledRetryPolicy;
  readonly headers: readonly HeaderDefinition[];
  /** If false, the trigger is not exported. */
  readonly includeInMetadata: boolean;
  readonly comment?: string;
  readonly requestTransform?: RequestTransform;
  readonly responseTransform?: ResponseTransform;
  readonly signature?: Signature;
}

export interface ScheduledRetryPolicy extends RetryPolicy {
  /** An event that is later than this is not delivered. */
  readonly toleranceSeconds: number;
}

const NO_RETRIES: ScheduledRetryPolicy = { numRetries: 0, intervalSeconds: 10, timeoutSeconds: 60, toleranceSeconds: 6 * 60 * 60 };

const retries: Codec<number> = leaf(
  int.name,
  (json, path) => {
    const value = int.decode(json, path);
    if (value < 0) return clampOrThrow(0, parseFailed('num_retries cannot be a negative value', path));
    if (value > MAX_RETRIES) return clampOrThrow(MAX_RETRIES, parseFailed(`num_retries cannot be more than ${MAX_RETRIES}`, path));
    return value;
  },
  (value) => value,
  { description: `A whole number from 0 to ${MAX_RETRIES}.` },
);

const seconds = (what: string): Codec<number> => nonNegativeInt(what, MAX_DELAY_SECONDS);

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
        : clampOrThrow(1, parseFailed('timeout_seconds is to be a positive number', at(path, 'timeout_seconds')));
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

/** Keys of an entry of `cron_triggers`, in the order of the exported document. */
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

/** Entry of `cron_triggers`. */
export const cronTriggerCodec: Codec<CronTrigger> = object('CronTriggerMetadata', cronTriggerFields);

/** Encodes a trigger with the defaults that a document omits. */
export function encodeWithDefaults(trigger: CronTrigger): Json {
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

/** Returns the triggers that documents contain. */
export function exportedCronTriggers(triggers: CronTriggers): CronTriggers {
  const exported = new Map([...triggers].filter(([, { includeInMetadata }]) => includeInMetadata));
  return exported.size === triggers.size ? triggers : exported;
}
