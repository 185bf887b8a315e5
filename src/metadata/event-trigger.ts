/** Event triggers of a table: changes of its rows are sent to a webhook. */
import {
  type Codec,
  intBetween,
  bool,
  defaulted,
  leaf,
  like,
  list,
  nonEmptyText,
  object,
  optional,
  parseFailed,
  required,
  text,
} from './codec.ts';
import { cronExpression } from './cron-expression.ts';
import { type ConfiguredText, type HeaderDefinition, webhookHeaders } from './environment-template.ts';
import { preserveUnknownKeys } from './preserve-unknown-keys.ts';
import { MAX_DELAY_SECONDS, MAX_RETRIES } from './retry-policy.ts';
import { type Signature, signatureCodec } from './signature.ts';
import { type RequestTransform, requestTransformCodec, type ResponseTransform, responseTransformCodec } from './transform.ts';
import { isJsonArray, type Json } from '../util/json.ts';
import { at, type Path } from '../util/path.ts';
import type { WithUnknownKeys } from './unknown-keys.ts';

/** Database names of columns, or all columns of the table. */
export type ColumnList = '*' | readonly string[];

/** Columns that matter for one kind of write. */
export interface CapturedOperation {
  /** For updates: columns whose changes are captured. */
  readonly columns: ColumnList;
  /** Columns in the payload. Default: all. */
  readonly payload?: ColumnList;
}

export const CAPTURED_OPERATIONS = ['insert', 'update', 'delete'] as const;
export type CapturedOperationName = (typeof CAPTURED_OPERATIONS)[number];

export interface EventRetryConf {
  readonly numRetries: number;
  readonly intervalSec: number;
  readonly timeoutSec?: number;
}

export const DEFAULT_EVENT_TIMEOUT_SEC = 60;

/** Automatic removal of old events. */
export interface CleanupConfig {
  /** Cron expression with five fields, in UTC. */
  readonly schedule: string;
  /** Maximum events per statement. */
  readonly batchSize: number;
  /** Minimum age of removed events, in hours. */
  readonly clearOlderThan: number;
  /** Timeout for one statement, in seconds. */
  readonly timeout: number;
  readonly cleanInvocationLogs: boolean;
  readonly paused: boolean;
}

/** Maximum duration of an automatic clean-up, in seconds. One that has been running for longer belongs to an instance that is gone. */
export const MAX_CLEANUP_SECONDS = 3600;

/** Events that are delivered in order: those of the same row, or those with equal values of these columns. */
export type EventOrdering = 'row' | readonly string[];

export interface EventTrigger extends WithUnknownKeys {
  readonly name: string;
  readonly insert?: CapturedOperation;
  readonly update?: CapturedOperation;
  readonly delete?: CapturedOperation;
  /** If true, administrators may send events manually. */
  readonly enableManual: boolean;
  readonly webhook: ConfiguredText;
  readonly retryConf: EventRetryConf;
  readonly headers: readonly HeaderDefinition[];
  readonly requestTransform?: RequestTransform;
  readonly responseTransform?: ResponseTransform;
  readonly cleanupConfig?: CleanupConfig;
  /** If true, rows written by replication are captured. Default: depends on the kind of database. */
  readonly triggerOnReplication?: boolean;
  readonly ordering?: EventOrdering;
  /** Maximum concurrent deliveries, over all instances. */
  readonly maxConcurrency?: number;
  readonly signature?: Signature;
}

/** Maximum length of a name. Longer names leave no space for the prefixes and suffixes of function names in the database. */
export const MAX_TRIGGER_NAME_LENGTH = 42;
const NAME = /^[A-Za-z]+[A-Za-z0-9_-]*$/;

/** Returns what is wrong with the name of a new trigger, or null. */
export function triggerNameProblem(name: string): string | null {
  if (!NAME.test(name)) return 'only alphanumeric and underscore and hyphens allowed for name';
  return name.length > MAX_TRIGGER_NAME_LENGTH ? `event trigger name can be at most ${MAX_TRIGGER_NAME_LENGTH} characters` : null;
}

/** Maximum of `clear_older_than`, in hours: it is added to times in the database. */
const MAX_HOURS = 100 * 366 * 24;
/** Maximum rows per batch and concurrent deliveries. */
const MAX_COUNT = 1_000_000;

const columnList: Codec<ColumnList> = leaf(
  'EventTriggerColumns',
  (json, path) => {
    if (json === '*') return '*';
    if (!isJsonArray(json)) throw parseFailed('only * or [] allowed', path);
    return names.decode(json, path);
  },
  (value): Json => (value === '*' ? value : [...value]),
  { description: '`"*"`, or a list of names of columns.' },
);
const names = list(nonEmptyText);

const capturedOperation: Codec<CapturedOperation> = object('SubscribeOpSpec', {
  columns: required(columnList),
  payload: optional(columnList),
});

const eventRetryConfCodec: Codec<EventRetryConf> = object('RetryConf', {
  numRetries: required(intBetween('num_retries', 0, MAX_RETRIES)),
  intervalSec: required(intBetween('interval_sec', 0, MAX_DELAY_SECONDS)),
  timeoutSec: optional(intBetween('timeout_sec', 1, MAX_DELAY_SECONDS)),
});

const DEFAULT_RETRY_CONF: EventRetryConf = { numRetries: 0, intervalSec: 10, timeoutSec: DEFAULT_EVENT_TIMEOUT_SEC };

const DEFAULT_CLEANUP = { batchSize: 10_000, timeout: 60 } as const;

/** Fields of automatic clean-ups and of clean-ups on demand. */
export const cleanupFields = {
  batchSize: defaulted(intBetween('batch_size', 1, MAX_COUNT), () => DEFAULT_CLEANUP.batchSize as number),
  clearOlderThan: required(intBetween('clear_older_than', 0, MAX_HOURS)),
  timeout: defaulted(intBetween('timeout', 1, MAX_DELAY_SECONDS), () => DEFAULT_CLEANUP.timeout as number),
  cleanInvocationLogs: defaulted(bool, () => false),
};

const cleanupConfig: Codec<CleanupConfig> = object('AutoTriggerLogCleanupConfig', {
  schedule: required(cronExpression),
  ...cleanupFields,
  paused: defaulted(bool, () => false),
});

const ordering: Codec<EventOrdering> = leaf(
  'EventOrdering',
  (json, path) => {
    if (json === 'row') return 'row';
    if (!isJsonArray(json) || json.length === 0) throw parseFailed('expecting "row" or a list of columns', path);
    return names.decode(json, path);
  },
  (value): Json => (value === 'row' ? value : [...value]),
  {
    description:
      '`"row"` delivers the events of each row in the order of its changes. A list of columns does so for events with equal values of these columns.',
  },
);

/** Fields that decide which writes are captured. */
const operationFields = {
  enableManual: defaulted(bool, () => false),
  insert: optional(capturedOperation),
  update: optional(capturedOperation),
  delete: optional(capturedOperation),
};

/** Fields that decide how events are delivered. */
const deliveryFields = {
  retryConf: defaulted(eventRetryConfCodec, () => DEFAULT_RETRY_CONF),
  webhook: optional(text),
  webhookFromEnv: optional(nonEmptyText),
  headers: webhookHeaders,
  requestTransform: optional(requestTransformCodec),
  responseTransform: optional(responseTransformCodec),
  cleanupConfig: optional(cleanupConfig),
  triggerOnReplication: optional(bool),
  ordering: optional(ordering),
  maxConcurrency: optional(intBetween('max_concurrency', 1, MAX_COUNT)),
  signature: optional(signatureCodec),
};

interface Written extends Omit<EventTrigger, 'webhook' | 'unknownKeys'> {
  readonly webhook?: string | undefined;
  readonly webhookFromEnv?: string | undefined;
}

function checked({ webhook, webhookFromEnv, ...rest }: Written, path: Path): EventTrigger {
  if (CAPTURED_OPERATIONS.every((name) => rest[name] === undefined) && !rest.enableManual) {
    throw parseFailed('atleast one amongst insert/update/delete/enable_manual spec must be provided', path);
  }
  if (webhook !== undefined && webhookFromEnv !== undefined)
    throw parseFailed('only one of webhook or webhook_from_env should be given', path);
  const address: ConfiguredText | undefined =
    webhook !== undefined
      ? { kind: 'template', text: webhook }
      : webhookFromEnv !== undefined
        ? { kind: 'environment', name: webhookFromEnv }
        : undefined;
  if (address === undefined) throw parseFailed('must provide webhook or webhook_from_env', path);
  for (const name of CAPTURED_OPERATIONS) {
    const operation = rest[name];
    if (operation?.columns.length === 0) throw parseFailed('found empty column specification', path);
    if (operation?.payload?.length === 0) throw parseFailed('found empty payload specification', path);
  }
  return { ...rest, webhook: address };
}

function written({ webhook, ...rest }: EventTrigger): Written {
  return { ...rest, ...(webhook.kind === 'template' ? { webhook: webhook.text } : { webhookFromEnv: webhook.name }) };
}

const inDocument = object('EventTriggerConf', {
  name: required(nonEmptyText),
  definition: required(object('TriggerOpsDef', operationFields)),
  ...deliveryFields,
});

/** Entry of `event_triggers`: `{name, definition: {insert, …}, webhook, …}`. */
export const eventTriggerCodec: Codec<EventTrigger> = preserveUnknownKeys<EventTrigger>(
  leaf(
    inDocument.name,
    (json, path) => {
      const { definition, ...rest } = inDocument.decode(json, path);
      return checked({ ...rest, ...definition }, path);
    },
    (trigger) => {
      const { enableManual, insert, update, delete: deletes, ...rest } = written(trigger);
      return inDocument.encode({ ...rest, definition: { enableManual, insert, update, delete: deletes } });
    },
    like(inDocument),
  ),
);

/** Arguments of operations that define a trigger. */
export const eventTriggerFields = { name: required(nonEmptyText), ...operationFields, ...deliveryFields };

/** Returns the trigger that arguments define. @throws SvcError parse-failed */
export function eventTriggerOf(args: Written, path: Path): EventTrigger {
  const problem = triggerNameProblem(args.name);
  if (problem !== null) throw parseFailed(problem, at(path, 'name'));
  return checked(args, path);
}

/** Returns the columns that a definition names; `*` names none. */
export function namedColumns(trigger: EventTrigger): ReadonlySet<string> {
  const columns = new Set<string>();
  const add = (of: ColumnList | EventOrdering | undefined): void => {
    if (of !== undefined && typeof of !== 'string') for (const column of of) columns.add(column);
  };
  for (const name of CAPTURED_OPERATIONS) {
    add(trigger[name]?.columns);
    add(trigger[name]?.payload);
  }
  add(trigger.ordering);
  return columns;
}
