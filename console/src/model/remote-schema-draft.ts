/** Form of a remote schema. */
import { type HeaderRow, headerRows, headersOf } from './header-rows.ts';
import { type Json, type JsonObject, objectOf, objectsIn } from './json.ts';
import { wholeNumberOf } from './whole-number.ts';

interface NamePair {
  readonly key: string;
  readonly value: string;
}

/** Customization of names of the remote server. */
export interface NamesDraft {
  readonly prefix: string;
  readonly suffix: string;
  /** Original names with their replacements. */
  readonly mapping: readonly NamePair[];
  /** Keys of the metadata that the form does not show. */
  readonly rest: JsonObject;
}

export interface FieldNamesDraft extends NamesDraft {
  /** Type name at the server. */
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

/** @param entry the stored remote schema; undefined for a new one */
export function remoteSchemaDraft(entry?: JsonObject): RemoteSchemaDraft {
  const definition = objectOf(entry?.['definition']);
  const customization = objectOf(definition['customization']);

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
    types: namesDraft(objectOf(customization['type_names'])),
    fields: objectsIn(customization['field_names']).map(({ parent_type: parentType, ...names }) => ({
      ...namesDraft(names),
      parentType: textOf(parentType),
    })),
  };
}

/** Returns true if any name is customized. */
export function hasNames({ namespace, types, fields }: RemoteSchemaDraft): boolean {
  return namespace !== '' || types.prefix + types.suffix !== '' || types.mapping.length + fields.length > 0;
}

/** Names what is missing; undefined if the draft is complete. */
export function missingInRemoteSchema({ name, isFromEnvironment, url, variable }: RemoteSchemaDraft): string | undefined {
  if (name.trim() === '') return 'Enter a name';
  if (isFromEnvironment) return variable.trim() === '' ? 'Enter the environment variable of the URL' : undefined;
  return url.trim() === '' ? 'Enter a URL' : undefined;
}

/**
 * Arguments of `add_remote_schema` and `update_remote_schema`.
 * @param entry the stored remote schema; keys that the form does not show are preserved
 * @throws Error for an invalid field
 */
export function remoteSchemaJson(draft: RemoteSchemaDraft, entry?: JsonObject): JsonObject {
  const { url: _url, url_from_env: _variable, customization: former, headers: _headers, ...rest } = objectOf(entry?.['definition']);
  const { timeout_seconds: _timeout, forward_client_headers: _forward, ...others } = rest;
  const timeout = wholeNumberOf(draft.timeout, 'Timeout');
  const headers = headersOf(draft.headers);
  const customization = customizationOf(draft, objectOf(former));
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
            if (parentType.trim() === '') throw new Error('Enter the type of each group of renamed fields.');
            return { parent_type: parentType.trim(), ...namesOf(names) };
          }),
        }),
  };
}

function namesDraft({ prefix, suffix, mapping, ...rest }: JsonObject): NamesDraft {
  return {
    prefix: textOf(prefix),
    suffix: textOf(suffix),
    mapping: Object.entries(objectOf(mapping)).map(([key, value]) => ({ key, value: textOf(value) })),
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

function textOf(json: Json | undefined): string {
  return json === undefined || json === null ? '' : String(json);
}
