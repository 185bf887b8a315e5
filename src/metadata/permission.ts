import type { Json } from '../util/json.ts';

/** `*` follows columns that are added later. */
export type PermissionColumns = '*' | readonly string[];

/** A boolean expression as written; it is resolved against the catalog by the schema cache. */
export type RawBoolExp = Json;

export interface PermissionEntry<P> {
  readonly role: string;
  readonly permission: P;
  readonly comment?: string;
}

export interface SelectPermission {
  readonly columns: PermissionColumns;
  readonly computedFields: readonly string[];
  readonly filter: RawBoolExp;
  readonly limit?: number;
  readonly allowAggregations: boolean;
  readonly queryRootFields?: readonly string[];
  readonly subscriptionRootFields?: readonly string[];
}

export interface InsertPermission {
  /** undefined: never given; works as `*` but is not exported. */
  readonly columns?: PermissionColumns;
  readonly check: RawBoolExp;
  readonly set: ReadonlyMap<string, Json>;
  readonly backendOnly: boolean;
  readonly validateInput?: Json;
}

export interface UpdatePermission {
  readonly columns: PermissionColumns;
  readonly filter: RawBoolExp;
  readonly check: RawBoolExp | null;
  readonly set: ReadonlyMap<string, Json>;
  readonly backendOnly: boolean;
  readonly validateInput?: Json;
}

export interface DeletePermission {
  readonly filter: RawBoolExp;
  readonly backendOnly: boolean;
  readonly validateInput?: Json;
}

export type PermissionKind = 'select' | 'insert' | 'update' | 'delete';
