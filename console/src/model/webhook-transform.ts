/** Form of request and response transforms. */
import { isList, isObject, type Json, type JsonObject, objectOf } from './json.ts';

export interface Row {
  readonly key: string;
  readonly value: string;
}

export type BodyForm = 'same' | 'template' | 'form' | 'none';

export interface BodyDraft {
  readonly form: BodyForm;
  readonly template: string;
  readonly rows: readonly Row[];
}

export interface TransformDraft {
  readonly method: string;
  readonly url: string;
  /** Parameters, or the whole query string as one template. */
  readonly query: readonly Row[] | string;
  readonly headers: readonly Row[];
  /** Names separated by commas. */
  readonly withoutHeaders: string;
  readonly body: BodyDraft;
}

const EMPTY_BODY: BodyDraft = { form: 'same', template: '', rows: [] };

/** Reads a request transform; without one, the draft changes nothing. */
export function transformDraft(transform: Json | undefined): TransformDraft {
  const stored = objectOf(transform);
  const headers = objectOf(stored['request_headers']);
  const query = stored['query_params'];
  return {
    method: textOf(stored['method']),
    url: textOf(stored['url']),
    query: typeof query === 'string' ? query : rowsOf(query),
    headers: rowsOf(headers['add_headers']),
    withoutHeaders: isList(headers['remove_headers']) ? headers['remove_headers'].map(String).join(', ') : '',
    body: bodyDraft(stored['body']),
  };
}

export function bodyDraft(body: Json | undefined): BodyDraft {
  if (typeof body === 'string') return { ...EMPTY_BODY, form: 'template', template: body };
  if (!isObject(body)) return EMPTY_BODY;
  if (body['action'] === 'remove') return { ...EMPTY_BODY, form: 'none' };
  if (body['action'] === 'x_www_form_urlencoded') return { ...EMPTY_BODY, form: 'form', rows: rowsOf(body['form_template']) };
  return { ...EMPTY_BODY, form: 'template', template: textOf(body['template']) };
}

/** Writes a request transform; undefined if it changes nothing. Rows without a name are omitted. */
export function transformOf({ method, url, query, headers, withoutHeaders, body }: TransformDraft): JsonObject | undefined {
  const removed = withoutHeaders
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const added = templatesOf(headers);
  const parameters = typeof query === 'string' ? query : templatesOf(query);
  const requestHeaders: JsonObject = {
    ...(isEmpty(added) ? {} : { add_headers: added }),
    ...(removed.length === 0 ? {} : { remove_headers: removed }),
  };
  const bodyJson = bodyOf(body);
  const parts: JsonObject = {
    ...(method === '' ? {} : { method }),
    ...(url.trim() === '' ? {} : { url: url.trim() }),
    ...(typeof parameters === 'string' ? { query_params: parameters } : isEmpty(parameters) ? {} : { query_params: parameters }),
    ...(isEmpty(requestHeaders) ? {} : { request_headers: requestHeaders }),
    ...(bodyJson === undefined ? {} : { body: bodyJson }),
  };
  return isEmpty(parts) ? undefined : { version: 2, template_engine: 'Kriti', ...parts };
}

/** Writes a response transform; undefined if it changes nothing. */
export function responseTransformOf(body: BodyDraft): JsonObject | undefined {
  const bodyJson = bodyOf(body);
  return bodyJson === undefined ? undefined : { version: 2, template_engine: 'Kriti', body: bodyJson };
}

function bodyOf({ form, template, rows }: BodyDraft): JsonObject | undefined {
  if (form === 'same') return undefined;
  if (form === 'none') return { action: 'remove' };
  return form === 'form' ? { action: 'x_www_form_urlencoded', form_template: templatesOf(rows) } : { action: 'transform', template };
}

/** Names of environment variables in a URL template such as `{{HANDLERS}}/login`. */
export function variablesIn(template: string): readonly string[] {
  return [...new Set([...template.matchAll(/\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}/g)].map(([, name]) => name ?? ''))];
}

function rowsOf(json: Json | undefined): readonly Row[] {
  return isObject(json) ? Object.entries(json).map(([key, value]) => ({ key, value: value === null ? '' : String(value) })) : [];
}

function templatesOf(rows: readonly Row[]): JsonObject {
  return Object.fromEntries(rows.filter(({ key }) => key.trim() !== '').map(({ key, value }) => [key.trim(), value]));
}

function textOf(json: Json | undefined): string {
  return typeof json === 'string' ? json : '';
}

function isEmpty(json: JsonObject): boolean {
  return Object.keys(json).length === 0;
}
