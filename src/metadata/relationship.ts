import type { QualifiedName } from '../catalog/catalog.ts';
import { isJsonArray, isJsonObject, type Json } from '../util/json.ts';
import { at, type Path } from '../util/path.ts';
import {
  type Codec,
  defaulted,
  leaf,
  list,
  literal,
  mapOf,
  nonEmptyText,
  nullable,
  object,
  optional,
  parseFailed,
  required,
  text,
} from './codec.ts';
import type { KindCodecs } from './kinds.ts';
import { preserveUnknownKeys } from './preserve-unknown-keys.ts';
import { refuseUnknownKeys, type WithUnknownKeys } from './unknown-keys.ts';

export interface ManualConfiguration {
  readonly remoteTable: QualifiedName;
  readonly columnMapping: ReadonlyMap<string, string>;
  readonly insertionOrder: 'before_parent' | 'after_parent' | null;
}

export type ObjectUsing =
  | { readonly kind: 'own-columns'; readonly columns: readonly string[] }
  | { readonly kind: 'remote-columns'; readonly table: QualifiedName; readonly columns: readonly string[] }
  | { readonly kind: 'manual'; readonly manual: ManualConfiguration };

export type ArrayUsing = Exclude<ObjectUsing, { readonly kind: 'own-columns' }>;

export interface Relationship<U> extends WithUnknownKeys {
  readonly name: string;
  readonly using: U;
  readonly comment?: string;
}

export type ObjectRelationship = Relationship<ObjectUsing>;
export type ArrayRelationship = Relationship<ArrayUsing>;

export const relationshipName: Codec<string> = nonEmptyText;

const columnNames: Codec<readonly string[]> = leaf(
  'NonEmpty',
  (json, path) => {
    // A single name counts as a list of one.
    const columns = typeof json === 'string' ? [nonEmptyText.decode(json, path)] : list(nonEmptyText).decode(json, path);
    if (columns.length === 0) throw parseFailed('parsing NonEmpty failed, unexpected empty list', path);
    return columns;
  },
  (value) => [...value],
  { description: 'A non-empty list of column names, or one name.' },
);

const insertionOrder: Codec<ManualConfiguration['insertionOrder']> = nullable(
  literal('InsertOrder', ['before_parent', 'after_parent'] as const),
);

function manualConfigurationCodec(codecs: KindCodecs): Codec<ManualConfiguration> {
  return object('RelManualConfig', {
    remoteTable: required(codecs.tableName),
    columnMapping: required(mapOf(nonEmptyText)),
    insertionOrder: defaulted(insertionOrder, () => null),
  });
}

const REMOTE_COLUMNS = { keys: ['table', 'column', 'columns'] };

/** `{table, column}` or `{table, columns}`: the foreign key of another table. */
function remoteColumnsCodec(codecs: KindCodecs): Codec<Extract<ObjectUsing, { kind: 'remote-columns' }>> {
  return leaf(
    'ArrRelUsingFKeyOn',
    (json, path) => {
      if (!isJsonObject(json)) throw parseFailed('Expecting object { table, columns }.', path);
      refuseUnknownKeys(json, path, REMOTE_COLUMNS);
      const { table, column, columns } = json;
      if (table === undefined) throw parseFailed("the key 'table' was not present", path);
      const one = column !== undefined && column !== null;
      if (one === (columns !== undefined && columns !== null)) throw parseFailed("expected exactly one of 'column' or 'columns'", path);
      return {
        kind: 'remote-columns',
        table: codecs.tableName.decode(table, at(path, 'table')),
        columns: one ? [nonEmptyText.decode(column, at(path, 'column'))] : columnNames.decode(columns as Json, at(path, 'columns')),
      };
    },
    ({ table, columns }): Json => ({
      ...(columns.length === 1 ? { column: columns[0] as string } : { columns: [...columns] }),
      table: codecs.tableName.encode(table),
    }),
    {
      description: `A \`table\` and either \`column\`, a name, or \`columns\`, a list of names: the foreign key of another table that refers to this one.`,
      of: [codecs.tableName],
    },
  );
}

const FOREIGN_KEY = 'foreign_key_constraint_on';
const MANUAL = 'manual_configuration';
const USING = { keys: [FOREIGN_KEY, MANUAL] };

/** `using` has exactly one of the two keys. */
function usingCodec<U extends ObjectUsing>(codecs: KindCodecs, foreignKey: Codec<Exclude<U, { kind: 'manual' }>>): Codec<U> {
  const manual = manualConfigurationCodec(codecs);
  return leaf(
    'RelUsing',
    (json, path): U => {
      if (!isJsonObject(json)) throw parseFailed('using should be an object', path);
      refuseUnknownKeys(json, path, USING);
      const present = [FOREIGN_KEY, MANUAL].filter((key) => json[key] !== undefined && json[key] !== null);
      const [key] = present;
      if (key === undefined) throw parseFailed(`atleast one of "${FOREIGN_KEY}" and "${MANUAL}" should be present`, path);
      if (present.length > 1) throw parseFailed(`only one of "${FOREIGN_KEY}" and "${MANUAL}" should be present`, path);
      const value = json[key] as Json;
      if (key === FOREIGN_KEY) return foreignKey.decode(value, at(path, key)) as U;
      return { kind: 'manual', manual: manual.decode(value, at(path, key)) } as U;
    },
    (value): Json => {
      if (value.kind === 'manual') return { [MANUAL]: manual.encode(value.manual) };
      return { [FOREIGN_KEY]: foreignKey.encode(value as Exclude<U, { kind: 'manual' }>) };
    },
    { description: `An object with either \`${FOREIGN_KEY}\` or \`${MANUAL}\`.`, of: [foreignKey, manual] },
  );
}

function objectForeignKeyCodec(codecs: KindCodecs): Codec<Exclude<ObjectUsing, { kind: 'manual' }>> {
  const remote = remoteColumnsCodec(codecs);
  return leaf(
    'ObjRelUsingChoice',
    (json: Json, path: Path) => {
      if (typeof json === 'string') return { kind: 'own-columns', columns: [nonEmptyText.decode(json, path)] };
      if (isJsonArray(json)) return { kind: 'own-columns', columns: columnNames.decode(json, path) };
      if (isJsonObject(json)) return remote.decode(json, path);
      throw parseFailed('unexpected type; expected an object, a string or an array of strings', path);
    },
    (value): Json => {
      if (value.kind === 'remote-columns') return remote.encode(value);
      return value.columns.length === 1 ? (value.columns[0] as string) : [...value.columns];
    },
    { description: 'The column or list of columns of the foreign key of this table, or the foreign key of the other table.', of: [remote] },
  );
}

/** `using` of an object relationship of the kind. */
export function objectUsingCodec(codecs: KindCodecs): Codec<ObjectUsing> {
  return usingCodec<ObjectUsing>(codecs, objectForeignKeyCodec(codecs));
}

/** `using` of an array relationship of the kind. */
export function arrayUsingCodec(codecs: KindCodecs): Codec<ArrayUsing> {
  return usingCodec<ArrayUsing>(codecs, remoteColumnsCodec(codecs));
}

function relationshipCodec<U>(using: Codec<U>): Codec<Relationship<U>> {
  return preserveUnknownKeys<Relationship<U>>(
    object('RelDef', { name: required(relationshipName), using: required(using), comment: optional(text) }),
  );
}

/** Entry of `object_relationships`. */
export function objectRelationshipCodec(codecs: KindCodecs): Codec<ObjectRelationship> {
  return relationshipCodec(objectUsingCodec(codecs));
}

/** Entry of `array_relationships`. */
export function arrayRelationshipCodec(codecs: KindCodecs): Codec<ArrayRelationship> {
  return relationshipCodec(arrayUsingCodec(codecs));
}
