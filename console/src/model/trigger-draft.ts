/** An event trigger as its form has it. */
import { type HeaderRow, headerRows, headersOf } from './header-rows.ts';
import { isList, isObject, type Json, type JsonObject, parseJson, printJson } from './json.ts';
import { wholeNumberOf } from './whole-number.ts';

export const CAPTURED = ['insert', 'update', 'delete'] as const;
export type Captured = (typeof CAPTURED)[number];

/** Names of columns; null: all that the table has. */
export type ColumnChoice = readonly string[] | null;

export interface CapturedDraft {
  readonly isOn: boolean;
  /** Of an update: those whose change matters. */
  readonly columns: ColumnChoice;
  /** Those that are told. */
  readonly payload: ColumnChoice;
}

export interface TriggerDraft {
  readonly operations: Readonly<Record<Captured, CapturedDraft>>;
  readonly isManual: boolean;
  /** A URL, or the variable of the environment that holds it. */
  readonly webhook: string;
  readonly isFromEnvironment: boolean;
  readonly retries: string;
  readonly interval: string;
  readonly timeout: string;
  readonly headers: readonly HeaderRow[];
  /** JSON; empty: there is none. */
  readonly documents: Readonly<Record<DocumentKey, string>>;
}

/** What is written as JSON, and what it is. */
export const DOCUMENTS = {
  request_transform: 'Transform of the call',
  response_transform: 'Transform of the answer',
  cleanup_config: 'Clean-up of old events',
} as const;
export type DocumentKey = keyof typeof DOCUMENTS;
export const DOCUMENT_KEYS = Object.keys(DOCUMENTS) as readonly DocumentKey[];

const RETRY = { num_retries: 0, interval_sec: 10, timeout_sec: 60 };

/** @param trigger as the metadata has it */
export function triggerDraft(trigger: JsonObject): TriggerDraft {
  const definition = partOf(trigger['definition']);
  const retry: JsonObject = { ...RETRY, ...partOf(trigger['retry_conf']) };
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
    documents: eachDocument((key) => (trigger[key] === undefined ? '' : printJson(trigger[key], 2))),
  };
}

function capturedDraft(spec: Json | undefined): CapturedDraft {
  if (!isObject(spec)) return { isOn: false, columns: null, payload: null };
  return { isOn: true, columns: choiceOf(spec['columns']), payload: choiceOf(spec['payload']) };
}

/** What is missing yet, or wrong; undefined: nothing. */
export function missingOfTrigger({ operations, isManual, webhook, documents }: TriggerDraft): string | undefined {
  if (!isManual && CAPTURED.every((operation) => !operations[operation].isOn)) return 'Say which changes are told';
  for (const operation of CAPTURED) {
    const { isOn, columns, payload } = operations[operation];
    if (isOn && (columns?.length === 0 || payload?.length === 0)) return `Tick a column of ${operation}, or all of them`;
  }
  if (webhook.trim() === '') return 'Say which URL is called';
  const wrong = DOCUMENT_KEYS.find((key) => wrongOfDocument(documents[key]) !== undefined);
  return wrong === undefined ? undefined : `${DOCUMENTS[wrong]}: ${wrongOfDocument(documents[wrong])}`;
}

/** What is wrong with an object that is written as JSON; undefined: nothing. */
export function wrongOfDocument(text: string): string | undefined {
  if (text.trim() === '') return undefined;
  try {
    return isObject(parseJson(text)) ? undefined : 'this is no JSON object';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * The trigger of a draft.
 * @param trigger as it is now; what the form does not show stays
 * @throws Error with what is wrong
 */
export function writtenTrigger(draft: TriggerDraft, trigger: JsonObject): JsonObject {
  const { webhook: _webhook, webhook_from_env: _variable, headers: _headers, definition, retry_conf, ...others } = trigger;
  const rest: JsonObject = Object.fromEntries(Object.entries(others).filter(([key]) => !Object.hasOwn(DOCUMENTS, key)));
  const headers = headersOf(draft.headers);
  const { enable_manual: manual, ...operations } = partOf(definition);
  const unshown = Object.entries(operations).filter(([key]) => !(CAPTURED as readonly string[]).includes(key));
  return {
    ...rest,
    definition: {
      ...Object.fromEntries(unshown),
      ...(draft.isManual || manual !== undefined ? { enable_manual: draft.isManual } : {}),
      ...Object.fromEntries(
        CAPTURED.filter((operation) => draft.operations[operation].isOn).map((operation) => [
          operation,
          capturedOf(draft.operations[operation], partOf(operations[operation])),
        ]),
      ),
    },
    [draft.isFromEnvironment ? 'webhook_from_env' : 'webhook']: draft.webhook.trim(),
    ...retryOf(draft, retry_conf),
    ...(headers.length === 0 ? {} : { headers }),
    ...Object.fromEntries(DOCUMENT_KEYS.filter((key) => draft.documents[key].trim() !== '').map((key) => [key, documentOf(draft, key)])),
  };
}

function capturedOf({ columns, payload }: CapturedDraft, { payload: before, ...rest }: JsonObject): JsonObject {
  // An absent one and `*` are the same: it is written as it was.
  const told = payload ?? (before === '*' ? before : undefined);
  return { ...rest, columns: columns ?? '*', ...(told === undefined ? {} : { payload: told }) };
}

/** Nothing, where there was nothing and nothing else than what then holds is written. */
function retryOf({ retries, interval, timeout }: TriggerDraft, before: Json | undefined): JsonObject {
  const given = partOf(before);
  const written = {
    num_retries: wholeNumberOf(retries, 'How often it is called again'),
    interval_sec: wholeNumberOf(interval, 'The time between two calls'),
    timeout_sec: wholeNumberOf(timeout, 'The time limit of a call'),
  };
  const keys = Object.keys(written) as (keyof typeof written)[];
  const kept = keys.filter((key) => written[key] !== RETRY[key] || given[key] !== undefined);
  if (before === undefined && kept.length === 0) return {};
  // The service wants the first two wherever one is given.
  const needed = keys.filter((key) => kept.includes(key) || key !== 'timeout_sec');
  return { retry_conf: { ...given, ...Object.fromEntries(needed.map((key) => [key, written[key]])) } };
}

function documentOf({ documents }: TriggerDraft, key: DocumentKey): Json {
  const wrong = wrongOfDocument(documents[key]);
  if (wrong !== undefined) throw new Error(`${DOCUMENTS[key]}: ${wrong}`);
  return parseJson(documents[key]);
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

function partOf(json: Json | undefined): JsonObject {
  return isObject(json) ? json : {};
}
