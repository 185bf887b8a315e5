/** Event triggers of a table: changes of its rows that are told to a webhook. */
import {
  type Codec,
  between,
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
import { kept } from './kept.ts';
import { LONGEST_S, MOST_RETRIES } from './retry-policy.ts';
import { type Signature, signatureCodec } from './signature.ts';
import { type RequestTransform, requestTransformCodec, type ResponseTransform, responseTransformCodec } from './transform.ts';
import { isJsonArray, type Json } from '../util/json.ts';
import { at, type Path } from '../util/path.ts';
import type { WithUnknownKeys } from './unknown-keys.ts';

/** Columns of the table by their names in the database, or all that it has. */
export type ColumnList = '*' | readonly string[];

/** What is told of one kind of write. */
export interface CapturedOperation {
  /** Of an update: those whose change matters. */
  readonly columns: ColumnList;
  /** Those that are told; absent: all. */
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

/** When old events are removed by themselves. */
export interface CleanupConfig {
  /** A cron expression of five fields, in UTC. */
  readonly schedule: string;
  /** Events in one statement. */
  readonly batchSize: number;
  /** hours */
  readonly clearOlderThan: number;
  /** seconds for one statement */
  readonly timeout: number;
  readonly cleanInvocationLogs: boolean;
  readonly paused: boolean;
}

/** Of one automatic run. One that is under way for longer was left by an instance that is gone. seconds */
export const LONGEST_CLEANUP_S = 3600;

/** Which events are delivered one after another: those of one row, or those that agree in these columns. */
export type EventOrdering = 'row' | readonly string[];

export interface EventTrigger extends WithUnknownKeys {
  readonly name: string;
  readonly insert?: CapturedOperation;
  readonly update?: CapturedOperation;
  readonly delete?: CapturedOperation;
  /** Whether administrators may send events of their own. */
  readonly enableManual: boolean;
  readonly webhook: ConfiguredText;
  readonly retryConf: EventRetryConf;
  readonly headers: readonly HeaderDefinition[];
  readonly requestTransform?: RequestTransform;
  readonly responseTransform?: ResponseTransform;
  readonly cleanupConfig?: CleanupConfig;
  /** Whether rows that replication writes count; absent: as is usual for the kind of database. */
  readonly triggerOnReplication?: boolean;
  readonly ordering?: EventOrdering;
  /** Deliveries at a time, of all instances together. */
  readonly maxConcurrency?: number;
  readonly signature?: Signature;
}

/** Longer ones leave no room for what the names of functions in the database begin and end with. */
export const LONGEST_TRIGGER_NAME = 42;
const NAME = /^[A-Za-z]+[A-Za-z0-9_-]*$/;

/** What is wrong with a name for a new trigger; null: nothing. */
export function nameComplaint(name: string): string | null {
  if (!NAME.test(name)) return 'only alphanumeric and underscore and hyphens allowed for name';
  return name.length > LONGEST_TRIGGER_NAME ? `event trigger name can be at most ${LONGEST_TRIGGER_NAME} characters` : null;
}

/** Hours: they are added to times in the database. */
const LONGEST_H = 100 * 366 * 24;
/** Rows, and deliveries at a time. */
const MOST = 1_000_000;

const columnList: Codec<ColumnList> = leaf(
  'EventTriggerColumns',
  (json, path) => {
    if (json === '*') return '*';
    if (!isJsonArray(json)) throw parseFailed('only * or [] allowed', path);
    return names.decode(json, path);
  },
  (value): Json => (value === '*' ? value : [...value]),
  { says: '`"*"`, or a list of names of columns.' },
);
const names = list(nonEmptyText);

const capturedOperation: Codec<CapturedOperation> = object('SubscribeOpSpec', {
  columns: required(columnList),
  payload: optional(columnList),
});

const eventRetryConfCodec: Codec<EventRetryConf> = object('RetryConf', {
  numRetries: required(between('num_retries', 0, MOST_RETRIES)),
  intervalSec: required(between('interval_sec', 0, LONGEST_S)),
  timeoutSec: optional(between('timeout_sec', 1, LONGEST_S)),
});

const DEFAULT_RETRY_CONF: EventRetryConf = { numRetries: 0, intervalSec: 10, timeoutSec: DEFAULT_EVENT_TIMEOUT_SEC };

const DEFAULT_CLEANUP = { batchSize: 10_000, timeout: 60 } as const;

/** What an automatic clean-up and one on demand have in common. */
export const cleanupFields = {
  batchSize: defaulted(between('batch_size', 1, MOST), () => DEFAULT_CLEANUP.batchSize as number),
  clearOlderThan: required(between('clear_older_than', 0, LONGEST_H)),
  timeout: defaulted(between('timeout', 1, LONGEST_S), () => DEFAULT_CLEANUP.timeout as number),
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
  { says: '`"row"`: the events of a row come in the order of its changes; or a list of columns: the events of equal values do.' },
);

/** What says which writes are told. */
const operationFields = {
  enableManual: defaulted(bool, () => false),
  insert: optional(capturedOperation),
  update: optional(capturedOperation),
  delete: optional(capturedOperation),
};

/** What says how they are told. */
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
  maxConcurrency: optional(between('max_concurrency', 1, MOST)),
  signature: optional(signatureCodec),
};

interface Written extends Omit<EventTrigger, 'webhook' | 'unknownKeys'> {
  readonly webhook?: string | undefined;
  readonly webhookFromEnv?: string | undefined;
}

/** @throws SvcError parse-failed */
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

/** `{name, definition: {insert, …}, webhook, …}`, of a document. */
export const eventTriggerCodec: Codec<EventTrigger> = kept<EventTrigger>(
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

/** Arguments that define a trigger, next to others. */
export const eventTriggerFields = { name: required(nonEmptyText), ...operationFields, ...deliveryFields };

/** The trigger that such arguments define. @throws SvcError parse-failed */
export function eventTriggerOf(args: Written, path: Path): EventTrigger {
  const complaint = nameComplaint(args.name);
  if (complaint !== null) throw parseFailed(complaint, at(path, 'name'));
  return checked(args, path);
}

/** The columns that a definition names; `*` names none. */
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
