import { isJsonObject, type Json } from '../util/json.ts';
import {
  anyJson,
  type Codec,
  nonNegativeInt,
  defaulted,
  flag,
  leaf,
  list,
  listOrNone,
  literal,
  mapOf,
  mapOrNone,
  nonEmptyText,
  nullable,
  object,
  optional,
  required,
  text,
  wrongType,
} from './codec.ts';
import { preserveUnknownKeys } from './preserve-unknown-keys.ts';
import { type ValidateInput, validateInputCodec } from './validate-input.ts';
import type { WithUnknownKeys } from './unknown-keys.ts';

/** `*` includes columns that are added later. */
export type PermissionColumns = '*' | readonly string[];

/** A boolean expression before the schema cache resolves it against the catalog. */
export type RawBoolExp = Json;

export interface PermissionEntry<P> extends WithUnknownKeys {
  readonly role: string;
  readonly permission: P;
  readonly comment?: string;
}

export const QUERY_ROOT_FIELDS = ['select', 'select_by_pk', 'select_aggregate'] as const;
export const SUBSCRIPTION_ROOT_FIELDS = [...QUERY_ROOT_FIELDS, 'select_stream'] as const;

export interface SelectPermission {
  readonly columns: PermissionColumns;
  readonly computedFields: readonly string[];
  readonly filter: RawBoolExp;
  readonly limit?: number;
  readonly allowAggregations: boolean;
  readonly queryRootFields?: readonly (typeof QUERY_ROOT_FIELDS)[number][];
  readonly subscriptionRootFields?: readonly (typeof SUBSCRIPTION_ROOT_FIELDS)[number][];
}

export interface InsertPermission {
  /** Undefined has the effect of `*` but is not exported. */
  readonly columns?: PermissionColumns;
  readonly check: RawBoolExp;
  readonly set: ReadonlyMap<string, Json>;
  readonly backendOnly: boolean;
  readonly validateInput?: ValidateInput;
}

export interface UpdatePermission {
  readonly columns: PermissionColumns;
  readonly filter: RawBoolExp;
  readonly check: RawBoolExp | null;
  readonly set: ReadonlyMap<string, Json>;
  readonly backendOnly: boolean;
  readonly validateInput?: ValidateInput;
}

export interface DeletePermission {
  readonly filter: RawBoolExp;
  readonly backendOnly: boolean;
  readonly validateInput?: ValidateInput;
}

export const PERMISSION_KINDS = ['insert', 'select', 'update', 'delete'] as const;

export type PermissionKind = (typeof PERMISSION_KINDS)[number];

export const permissionKindCodec: Codec<PermissionKind> = literal('PermType', PERMISSION_KINDS);

const nameList = list(nonEmptyText);

const columnsCodec: Codec<PermissionColumns> = leaf(
  'PermColSpec',
  (json, path) => (json === '*' ? '*' : [...new Set(nameList.decode(json, path))]),
  (value) => (value === '*' ? '*' : [...value]),
  { description: '`"*"` for all columns, including future ones, or a list of column names.' },
);

/** The catalog is needed to check more than the outermost shape. */
export const rawBoolExpCodec: Codec<RawBoolExp> = leaf(
  'BoolExp',
  (json, path) => {
    if (!isJsonObject(json)) throw wrongType('BoolExp', 'Object', json, path);
    return json;
  },
  (value) => value,
  { description: 'A condition on rows, as an object: see [permissions](../permissions.md).' },
);

/** A set of root fields in the order of `known`. */
function rootFieldsCodec<R extends string>(known: readonly R[]): Codec<readonly R[]> {
  const names = list(literal('RootField', known));
  return leaf(
    'RootFields',
    (json, path) => {
      const chosen = new Set(names.decode(json, path));
      return known.filter((name) => chosen.has(name));
    },
    (value) => [...value],
    { description: 'A list; an empty list allows none.', values: known },
  );
}

const presets = mapOrNone(mapOf(anyJson));
const validateInput = optional(validateInputCodec);

export const selectPermissionCodec: Codec<SelectPermission> = object('SelPerm', {
  columns: required(columnsCodec),
  computedFields: listOrNone(nameList),
  filter: required(rawBoolExpCodec),
  limit: optional(nonNegativeInt('limit')),
  allowAggregations: flag,
  queryRootFields: optional(rootFieldsCodec(QUERY_ROOT_FIELDS)),
  subscriptionRootFields: optional(rootFieldsCodec(SUBSCRIPTION_ROOT_FIELDS)),
});

export const insertPermissionCodec: Codec<InsertPermission> = object('InsPerm', {
  check: required(rawBoolExpCodec),
  set: presets,
  columns: optional(columnsCodec),
  backendOnly: flag,
  validateInput,
});

export const updatePermissionCodec: Codec<UpdatePermission> = object('UpdPerm', {
  columns: required(columnsCodec),
  filter: required(rawBoolExpCodec),
  check: defaulted(nullable(rawBoolExpCodec), () => null),
  set: presets,
  backendOnly: flag,
  validateInput,
});

export const deletePermissionCodec: Codec<DeletePermission> = object('DelPerm', {
  filter: required(rawBoolExpCodec),
  backendOnly: flag,
  validateInput,
});

/** Entry of a list of permissions: `{role, permission, comment?}`. */
export function permissionEntryCodec<P>(permission: Codec<P>): Codec<PermissionEntry<P>> {
  return preserveUnknownKeys<PermissionEntry<P>>(
    object('PermDef', { role: required(nonEmptyText), permission: required(permission), comment: optional(text) }),
  );
}
