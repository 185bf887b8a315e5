/** Relationships to tables of other sources and to fields of remote schemas. */
import { SvcError } from '../errors/svc-error.ts';
import { isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import { at, type Path } from '../util/path.ts';
import {
  anyJson,
  bool,
  type Codec,
  defaulted,
  leaf,
  list,
  literal,
  mapOf,
  nonEmptyText,
  object,
  optional,
  parseFailed,
  required,
} from './codec.ts';
import { refuseUnknownKeys, type WithUnknownKeys } from './unknown-keys.ts';

export interface RemoteRelationship extends WithUnknownKeys {
  readonly name: string;
  readonly definition: RemoteRelationshipDefinition;
}

export type RemoteRelationshipDefinition = ToSource | ToRemoteSchema;

/** Leads to rows of a table of another source. */
export interface ToSource {
  readonly kind: 'source';
  readonly relationshipType: 'object' | 'array';
  readonly source: string;
  /** Not decoded: its form depends on the kind of the source. */
  readonly table: Json;
  /** Maps columns of the table (or fields of the type) to columns of the target. */
  readonly fieldMapping: ReadonlyMap<string, string>;
}

/** Leads to a field of a remote schema. */
export interface ToRemoteSchema {
  readonly kind: 'remote-schema';
  readonly remoteSchema: string;
  /** Columns, computed fields, or fields of a type that arguments may refer to as `$name`. */
  readonly lhsFields: readonly string[];
  /** Path from the root; at least one field. */
  readonly path: readonly RemoteFieldCall[];
  /** If set, one call requests all keys; otherwise each key is requested separately. */
  readonly batch?: RemoteBatchDefinition;
  /** True if written in the form that preceded `definition`; encoded in that form again. */
  readonly legacy: boolean;
}

export interface RemoteFieldCall {
  readonly name: string;
  /** Constants, and `$name` for values of the row, at any depth. */
  readonly arguments: JsonObject;
}

/** The argument with the key takes a list of keys; `matchField` of the returned rows contains their key. */
export interface RemoteBatchDefinition {
  readonly matchField: string;
  /** True if a key has a list of rows, false if it has at most one. */
  readonly many: boolean;
}

const sourceCodec = object('ToSourceRelationshipDef', {
  relationshipType: required(literal('RelType', ['object', 'array'] as const)),
  source: required(nonEmptyText),
  table: required(anyJson),
  fieldMapping: required(mapOf(nonEmptyText)),
});

const batchCodec: Codec<RemoteBatchDefinition> = object('RemoteBatch', {
  matchField: required(nonEmptyText),
  many: defaulted(bool, () => false),
});

const argumentsCodec: Codec<JsonObject> = leaf(
  'RemoteArguments',
  (json, path) => {
    if (!isJsonObject(json)) throw parseFailed('expecting object', path);
    return json;
  },
  (value) => value,
  { description: 'An object with the arguments of the field: constants, and `"$name"` for values of the row, at any depth.' },
);

const callCodec = object('FieldCall', { arguments: required(argumentsCodec), field: optional(anyJson) });

/** `{field: {arguments, field?: …}}`, one field at each level. */
const pathCodec: Codec<readonly RemoteFieldCall[]> = leaf(
  'RemoteFields',
  (json, path) => readPath(json, path),
  (calls) =>
    calls.reduceRight<Json | null>(
      (inner, call) => ({ [call.name]: { arguments: call.arguments, ...(inner === null ? {} : { field: inner }) } }),
      null,
    ),
  {
    description:
      '`{"field": {"arguments": {…}, "field": {…}}}`: the field of the root, its arguments, and the field inside it, if any. One field at each level.',
    of: [callCodec],
  },
);

const MAX_LEVELS = 20;

function readPath(json: Json, path: Path, level = 0): readonly RemoteFieldCall[] {
  if (!isJsonObject(json)) throw parseFailed('expecting an object mapping a field name to its arguments', path);
  const names = Object.keys(json);
  const [name] = names;
  if (name === undefined) throw parseFailed('Expecting one single mapping, received none.', path);
  if (names.length > 1) throw parseFailed('Expecting one single mapping, received too many.', path);
  if (level >= MAX_LEVELS) throw parseFailed(`more than ${MAX_LEVELS} fields inside one another`, path);
  const place = at(path, name);
  const call = callCodec.decode(json[name] as Json, place);
  const inner = call.field === undefined ? [] : readPath(call.field, at(place, 'field'), level + 1);
  return [{ name, arguments: call.arguments }, ...inner];
}

const toRemoteSchemaCodec = object('ToSchemaRelationshipDef', {
  remoteSchema: required(nonEmptyText),
  lhsFields: required(list(nonEmptyText)),
  remoteField: required(pathCodec),
  batch: optional(batchCodec),
});

const legacyCodec = object('LegacyRemoteRelationshipDef', {
  remoteSchema: required(nonEmptyText),
  svcFields: required(list(nonEmptyText)),
  remoteField: required(pathCodec),
});

const STRICT_KEYS = ['to_source', 'to_remote_schema'];

/** Value of `definition`. */
export const remoteRelationshipDefinitionCodec: Codec<RemoteRelationshipDefinition> = leaf(
  'RemoteRelationshipDefinition',
  (json, path) => {
    if (!isJsonObject(json)) throw parseFailed('expecting object', path);
    const present = [...STRICT_KEYS, 'remote_schema'].filter((key) => json[key] !== undefined && json[key] !== null);
    // The older form is also allowed in `definition`.
    if (present.length === 1 && present[0] === 'remote_schema') return legacyDefinition(json, path);
    if (present.length !== 1 || present[0] === 'remote_schema') {
      throw parseFailed('remote relationship definition (strict format) expects exactly one of: to_source, to_remote_schema', path);
    }
    refuseUnknownKeys(json, path, { keys: STRICT_KEYS });
    if (present[0] === 'to_source') return { kind: 'source', ...sourceCodec.decode(json['to_source'] as Json, at(path, 'to_source')) };
    const { remoteField, batch, ...rest } = toRemoteSchemaCodec.decode(json['to_remote_schema'] as Json, at(path, 'to_remote_schema'));
    return { kind: 'remote-schema', ...rest, path: remoteField, legacy: false, ...(batch === undefined ? {} : { batch }) };
  },
  (definition) => {
    if (definition.kind === 'source') return { to_source: sourceCodec.encode(definition) };
    const { remoteSchema, lhsFields, path, batch } = definition;
    if (definition.legacy) return legacyCodec.encode({ remoteSchema, svcFields: lhsFields, remoteField: path });
    return {
      to_remote_schema: toRemoteSchemaCodec.encode({
        remoteSchema,
        lhsFields,
        remoteField: path,
        ...(batch === undefined ? {} : { batch }),
      }),
    };
  },
  { description: 'An object with either `to_source` or `to_remote_schema`.', of: [sourceCodec, toRemoteSchemaCodec] },
);

function legacyDefinition(json: Json, path: Path): ToRemoteSchema {
  const { remoteSchema, svcFields, remoteField } = legacyCodec.decode(json, path);
  return { kind: 'remote-schema', remoteSchema, lhsFields: svcFields, path: remoteField, legacy: true };
}

/** Entry of `remote_relationships` of a table or of a type of a remote schema. */
export const remoteRelationshipCodec: Codec<RemoteRelationship> = object('RemoteRelationship', {
  name: required(nonEmptyText),
  definition: required(remoteRelationshipDefinitionCodec),
});

/**
 * Reads the arguments of the operations on tables: `definition`, or the keys of the older form next to the name.
 * @throws SvcError parse-failed
 */
export function definitionOfArguments(json: JsonObject, path: Path): RemoteRelationshipDefinition {
  const isLegacy = json['remote_schema'] !== undefined && json['remote_schema'] !== null;
  const { definition } = json;
  if (isLegacy === (definition !== undefined && definition !== null)) {
    throw new SvcError('parse-failed', 'create_remote_relationship expects exactly one of: remote_schema, definition', { path });
  }
  return isLegacy ? legacyDefinition(json, path) : remoteRelationshipDefinitionCodec.decode(definition as Json, at(path, 'definition'));
}
