/** Form of an event trigger. */
import { type HeaderRow, headerRows, headersOf } from './header-rows.ts';
import { isList, isObject, type Json, type JsonObject, objectOf, parseJsonText, printJson } from './json.ts';
import { wholeNumberOf } from './whole-number.ts';

export const CAPTURED = ['insert', 'update', 'delete'] as const;
export type Captured = (typeof CAPTURED)[number];

/** Names of columns; `null` for all columns of the table. */
export type ColumnChoice = readonly string[] | null;

export interface CapturedDraft {
  readonly isOn: boolean;
  /** Columns whose change triggers an update event. */
  readonly columns: ColumnChoice;
  /** Columns in the payload. */
  readonly payload: ColumnChoice;
}

export type TriggerOrder = 'any' | 'row' | 'columns';
export type OnReplication = 'default' | 'yes' | 'no';

export interface TriggerDraft {
  readonly operations: Readonly<Record<Captured, CapturedDraft>>;
  readonly isManual: boolean;
  /** URL, or the name of the environment variable that holds it. */
  readonly webhook: string;
  readonly isFromEnvironment: boolean;
  readonly retries: string;
  readonly interval: string;
  readonly timeout: string;
  readonly headers: readonly HeaderRow[];
  /** Environment variable with the secret that signs deliveries; empty for none. */
  readonly secretVariable: string;
  readonly order: TriggerOrder;
  /** Columns whose values have an order of their own, for the order by columns. */
  readonly orderColumns: readonly string[];
  /** Maximum number of concurrent deliveries; empty for no limit. */
  readonly maxConcurrency: string;
  /** `yes` if rows that replication writes cause events. The default depends on the kind of database. */
  readonly onReplication: OnReplication;
  /** JSON; empty for none. */
  readonly documents: Readonly<Record<DocumentKey, string>>;
}

/** Keys that are edited as JSON, with their labels. */
export const DOCUMENTS = {
  request_transform: 'Request transform',
  response_transform: 'Response transform',
  cleanup_config: 'Event cleanup',
} as const;
export type DocumentKey = keyof typeof DOCUMENTS;
export const DOCUMENT_KEYS = Object.keys(DOCUMENTS) as readonly DocumentKey[];

const RETRY = { num_retries: 0, interval_sec: 10, timeout_sec: 60 };

/** @param trigger entry of the metadata */
export function triggerDraft(trigger: JsonObject): TriggerDraft {
  const definition = objectOf(trigger['definition']);
  const retry: JsonObject = { ...RETRY, ...objectOf(trigger['retry_conf']) };
  const variable = trigger['webhook_from_env'];
  return {
    operations: eachCaptured((operation) => capturedDraft(definition[operation])),
    isManual: definition['enable_manual'] === true,
    webhook: String(variable ?? trigger['webhook'] ?? ''),
    isFromEnvironment: variable !== undefined,
    retries: String(retry['num_retries']),
    interval: String(retry['interval_sec']),
    timeout: String(retry['timeout_sec']),
    headers: headerRows(trigger['headers']),
    secretVariable: String(objectOf(trigger['signature'])['secret_from_env'] ?? ''),
    order: trigger['ordering'] === 'row' ? 'row' : isList(trigger['ordering']) ? 'columns' : 'any',
    orderColumns: isList(trigger['ordering']) ? trigger['ordering'].map(String) : [],
    maxConcurrency: String(trigger['max_concurrency'] ?? ''),
    onReplication: ON_REPLICATION.get(trigger['trigger_on_replication']) ?? 'default',
    documents: eachDocument((key) => (trigger[key] === undefined ? '' : printJson(trigger[key], 2))),
  };
}

const ON_REPLICATION: ReadonlyMap<Json | undefined, OnReplication> = new Map([
  [true, 'yes'],
  [false, 'no'],
]);

function capturedDraft(spec: Json | undefined): CapturedDraft {
  if (!isObject(spec)) return { isOn: false, columns: null, payload: null };
  return { isOn: true, columns: choiceOf(spec['columns']), payload: choiceOf(spec['payload']) };
}

/** Names what is missing or invalid; undefined if the draft can be saved. */
export function missingInTrigger({ operations, isManual, webhook, documents, order, orderColumns }: TriggerDraft): string | undefined {
  if (!isManual && CAPTURED.every((operation) => !operations[operation].isOn)) return 'Select an operation';
  for (const operation of CAPTURED) {
    const { isOn, columns, payload } = operations[operation];
    if (isOn && (columns?.length === 0 || payload?.length === 0)) return `Select a column for ${operation}, or all columns`;
  }
  if (webhook.trim() === '') return 'Enter a webhook URL';
  if (order === 'columns' && orderColumns.length === 0) return 'Select a column for the order';
  const invalid = DOCUMENT_KEYS.find((key) => documentError(documents[key]) !== undefined);
  return invalid === undefined ? undefined : `${DOCUMENTS[invalid]}: ${documentError(documents[invalid])}`;
}

/** Returns the error in the text of a JSON object; undefined if it is valid or empty. */
export function documentError(text: string): string | undefined {
  if (text.trim() === '') return undefined;
  try {
    return isObject(parseJsonText(text)) ? undefined : 'expected a JSON object';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * Trigger of a draft.
 * @param trigger the stored trigger; keys that the form does not show are preserved
 * @throws Error for an invalid field
 */
export function triggerJson(draft: TriggerDraft, trigger: JsonObject): JsonObject {
  const { webhook: _webhook, webhook_from_env: _variable, headers: _headers, signature: _, definition, retry_conf, ...others } = trigger;
  const rest: JsonObject = Object.fromEntries(
    Object.entries(others).filter(([key]) => !Object.hasOwn(DOCUMENTS, key) && !DELIVERY_KEYS.includes(key)),
  );
  const headers = headersOf(draft.headers);
  const secretVariable = draft.secretVariable.trim();
  const { enable_manual: manual, ...operations } = objectOf(definition);
  const unshown = Object.entries(operations).filter(([key]) => !(CAPTURED as readonly string[]).includes(key));
  return {
    ...rest,
    definition: {
      ...Object.fromEntries(unshown),
      ...(draft.isManual || manual !== undefined ? { enable_manual: draft.isManual } : {}),
      ...Object.fromEntries(
        CAPTURED.filter((operation) => draft.operations[operation].isOn).map((operation) => [
          operation,
          capturedOf(draft.operations[operation], objectOf(operations[operation])),
        ]),
      ),
    },
    [draft.isFromEnvironment ? 'webhook_from_env' : 'webhook']: draft.webhook.trim(),
    ...retryOf(draft, retry_conf),
    ...(headers.length === 0 ? {} : { headers }),
    ...(secretVariable === '' ? {} : { signature: { secret_from_env: secretVariable } }),
    ...deliveryOf(draft),
    ...Object.fromEntries(DOCUMENT_KEYS.filter((key) => draft.documents[key].trim() !== '').map((key) => [key, documentOf(draft, key)])),
  };
}

const DELIVERY_KEYS: readonly string[] = ['ordering', 'max_concurrency', 'trigger_on_replication'];

function deliveryOf({ order, orderColumns, maxConcurrency, onReplication }: TriggerDraft): JsonObject {
  return {
    ...(order === 'any' ? {} : { ordering: order === 'row' ? 'row' : orderColumns }),
    ...(maxConcurrency.trim() === '' ? {} : { max_concurrency: wholeNumberOf(maxConcurrency, 'Maximum concurrent deliveries') }),
    ...(onReplication === 'default' ? {} : { trigger_on_replication: onReplication === 'yes' }),
  };
}

function capturedOf({ columns, payload }: CapturedDraft, { payload: before, ...rest }: JsonObject): JsonObject {
  // A missing payload and `*` mean the same: the stored form stays.
  const payloadRule = payload ?? (before === '*' ? before : undefined);
  return { ...rest, columns: columns ?? '*', ...(payloadRule === undefined ? {} : { payload: payloadRule }) };
}

/** Writes `retry_conf`; empty if none was stored and all values are the defaults. */
function retryOf({ retries, interval, timeout }: TriggerDraft, before: Json | undefined): JsonObject {
  const stored = objectOf(before);
  const retry = {
    num_retries: wholeNumberOf(retries, 'Retries'),
    interval_sec: wholeNumberOf(interval, 'Retry interval'),
    timeout_sec: wholeNumberOf(timeout, 'Timeout'),
  };
  const keys = Object.keys(retry) as (keyof typeof retry)[];
  const changed = keys.filter((key) => retry[key] !== RETRY[key] || stored[key] !== undefined);
  if (before === undefined && changed.length === 0) return {};
  // The service needs the first two if any is set.
  const needed = keys.filter((key) => changed.includes(key) || key !== 'timeout_sec');
  return { retry_conf: { ...stored, ...Object.fromEntries(needed.map((key) => [key, retry[key]])) } };
}

function documentOf({ documents }: TriggerDraft, key: DocumentKey): Json {
  const error = documentError(documents[key]);
  if (error !== undefined) throw new Error(`${DOCUMENTS[key]}: ${error}`);
  return parseJsonText(documents[key]);
}

function eachCaptured<T>(make: (operation: Captured) => T): Record<Captured, T> {
  return { insert: make('insert'), update: make('update'), delete: make('delete') };
}

function eachDocument<T>(make: (key: DocumentKey) => T): Record<DocumentKey, T> {
  return {
    request_transform: make('request_transform'),
    response_transform: make('response_transform'),
    cleanup_config: make('cleanup_config'),
  };
}

function choiceOf(columns: Json | undefined): ColumnChoice {
  return isList(columns) ? columns.map(String) : null;
}
