/** A remote schema as its form has it. */
import { type HeaderRow, headerRows, headersOf } from './header-rows.ts';
import { isList, isObject, type Json, type JsonObject } from './json.ts';
import { wholeNumberOf } from './whole-number.ts';

interface NamePair {
  readonly key: string;
  readonly value: string;
}

/** How names of the server are changed. */
export interface NamesDraft {
  readonly prefix: string;
  readonly suffix: string;
  /** Names of the server with those that stand in their place. */
  readonly mapping: readonly NamePair[];
  /** What else the metadata has of it. */
  readonly rest: JsonObject;
}

export interface FieldNamesDraft extends NamesDraft {
  /** In the words of the server. */
  readonly parentType: string;
}

export interface RemoteSchemaDraft {
  readonly name: string;
  readonly comment: string;
  readonly isFromEnvironment: boolean;
  readonly url: string;
  readonly variable: string;
  readonly timeout: string;
  readonly forward: boolean;
  readonly headers: readonly HeaderRow[];
  readonly namespace: string;
  readonly types: NamesDraft;
  readonly fields: readonly FieldNamesDraft[];
}

const DEFAULT_TIMEOUT = 60;
const NO_NAMES: NamesDraft = { prefix: '', suffix: '', mapping: [], rest: {} };
export const NO_FIELD_NAMES: FieldNamesDraft = { ...NO_NAMES, parentType: '' };

/** @param entry of the metadata; undefined for a new one */
export function remoteSchemaDraft(entry?: JsonObject): RemoteSchemaDraft {
  const definition = partOf(entry?.['definition']);
  const customization = partOf(definition['customization']);
  const fieldNames = customization['field_names'];
  return {
    name: textOf(entry?.['name']),
    comment: textOf(entry?.['comment']),
    isFromEnvironment: entry === undefined || definition['url_from_env'] !== undefined,
    url: textOf(definition['url']),
    variable: textOf(definition['url_from_env']),
    timeout: textOf(definition['timeout_seconds'] ?? DEFAULT_TIMEOUT),
    forward: definition['forward_client_headers'] === true,
    headers: headerRows(definition['headers']),
    namespace: textOf(customization['root_fields_namespace']),
    types: namesDraft(partOf(customization['type_names'])),
    fields: (isList(fieldNames) ? fieldNames.filter(isObject) : []).map(({ parent_type: parentType, ...names }) => ({
      ...namesDraft(names),
      parentType: textOf(parentType),
    })),
  };
}

/** Whether names of the server are changed. */
export function hasNames({ namespace, types, fields }: RemoteSchemaDraft): boolean {
  return namespace !== '' || types.prefix + types.suffix !== '' || types.mapping.length + fields.length > 0;
}

/** What is missing yet; undefined: nothing. */
export function missingOfRemoteSchema({ name, isFromEnvironment, url, variable }: RemoteSchemaDraft): string | undefined {
  if (name.trim() === '') return 'Give it a name';
  if (isFromEnvironment) return variable.trim() === '' ? 'Say which variable holds the URL' : undefined;
  return url.trim() === '' ? 'Say which URL it has' : undefined;
}

/**
 * What `add_remote_schema` and `update_remote_schema` take.
 * @param entry as it is now; what the form does not show stays
 * @throws Error with what is wrong
 */
export function writtenRemoteSchema(draft: RemoteSchemaDraft, entry?: JsonObject): JsonObject {
  const { url: _url, url_from_env: _variable, customization: former, headers: _headers, ...rest } = partOf(entry?.['definition']);
  const { timeout_seconds: _timeout, forward_client_headers: _forward, ...others } = rest;
  const timeout = wholeNumberOf(draft.timeout, 'The time limit');
  const headers = headersOf(draft.headers);
  const customization = customizationOf(draft, partOf(former));
  const comment = draft.comment.trim();
  return {
    name: draft.name.trim(),
    definition: {
      ...others,
      ...(draft.isFromEnvironment ? { url_from_env: draft.variable.trim() } : { url: draft.url.trim() }),
      timeout_seconds: timeout,
      ...(Object.keys(customization).length === 0 ? {} : { customization }),
      ...(headers.length === 0 ? {} : { headers }),
      ...(draft.forward ? { forward_client_headers: true } : {}),
    },
    ...(comment === '' ? {} : { comment }),
  };
}

function customizationOf({ namespace, types, fields }: RemoteSchemaDraft, former: JsonObject): JsonObject {
  const { root_fields_namespace: _namespace, type_names: _types, field_names: _fields, ...rest } = former;
  const typeNames = namesOf(types);
  return {
    ...rest,
    ...(namespace.trim() === '' ? {} : { root_fields_namespace: namespace.trim() }),
    ...(Object.keys(typeNames).length === 0 ? {} : { type_names: typeNames }),
    ...(fields.length === 0
      ? {}
      : {
          field_names: fields.map(({ parentType, ...names }) => {
            if (parentType.trim() === '') throw new Error('Say of which type the fields are that are renamed.');
            return { parent_type: parentType.trim(), ...namesOf(names) };
          }),
        }),
  };
}

function namesDraft({ prefix, suffix, mapping, ...rest }: JsonObject): NamesDraft {
  return {
    prefix: textOf(prefix),
    suffix: textOf(suffix),
    mapping: Object.entries(partOf(mapping)).map(([key, value]) => ({ key, value: textOf(value) })),
    rest,
  };
}

function namesOf({ prefix, suffix, mapping, rest }: NamesDraft): JsonObject {
  const named = mapping.filter(({ key }) => key.trim() !== '');
  return {
    ...rest,
    ...(prefix.trim() === '' ? {} : { prefix: prefix.trim() }),
    ...(suffix.trim() === '' ? {} : { suffix: suffix.trim() }),
    ...(named.length === 0 ? {} : { mapping: Object.fromEntries(named.map(({ key, value }) => [key.trim(), value.trim()])) }),
  };
}

function partOf(json: Json | undefined): JsonObject {
  return isObject(json) ? json : {};
}

function textOf(json: Json | undefined): string {
  return json === undefined || json === null ? '' : String(json);
}
