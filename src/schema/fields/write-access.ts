/** Write access of a role to a table, in one variant of its schema, according to its permissions. */
import { ADMIN_ROLE } from '../../auth/session.ts';
import type { CatalogColumn } from '../../catalog/catalog.ts';
import { type BoolExp, TRUE } from '../../ir/bool-exp.ts';
import type { InputValidation, WrittenJson } from '../../ir/input-validation.ts';
import type { ValidateInput } from '../../metadata/validate-input.ts';
import type { Preset, TableInfo } from '../../schema-cache/schema-cache.ts';
import type { SchemaVariant } from './options.ts';
import type { SourceContext } from './source-context.ts';
import type { InputValue } from '../../graphql-engine/types.ts';

/** A role in one variant: permissions for trusted requests only (`backend_only`) apply in the backend variant. */
export interface RoleVariant {
  readonly role: string;
  readonly variant: SchemaVariant;
}

interface Validated {
  /** A hook that has to accept the input first. */
  readonly validateInput: ValidateInput | null;
}

export interface InsertAccess extends Validated {
  /** Columns by database name, without presets; null for every column (admin). */
  readonly columns: ReadonlySet<string> | null;
  readonly check: BoolExp;
  readonly presets: ReadonlyMap<string, Preset>;
}

export interface UpdateAccess extends Validated {
  readonly columns: ReadonlySet<string> | null;
  readonly filter: BoolExp;
  /** `null` if rows may change in any way. */
  readonly check: BoolExp | null;
  readonly presets: ReadonlyMap<string, Preset>;
}

export interface DeleteAccess extends Validated {
  readonly filter: BoolExp;
}

const NO_PRESETS: ReadonlyMap<string, Preset> = new Map();
const ADMIN_INSERT: InsertAccess = { columns: null, check: TRUE, presets: NO_PRESETS, validateInput: null };
const ADMIN_UPDATE: UpdateAccess = { columns: null, filter: TRUE, check: null, presets: NO_PRESETS, validateInput: null };
const ADMIN_DELETE: DeleteAccess = { filter: TRUE, validateInput: null };

/** Returns null if the role may not insert into the table, or the table is not insertable. */
export function insertAccess(source: SourceContext, table: TableInfo, writer: RoleVariant): InsertAccess | null {
  if (!isWritable(source, table, table.catalog.insertable)) return null;
  if (writer.role === ADMIN_ROLE) return ADMIN_INSERT;
  return granted(table.permissions.get(writer.role)?.insert, writer);
}

/**
 * Returns the access that the input type of the table shows. Administrators have the input type even for tables that are not insertable:
 * clients are generated from schemas in which a row may name rows of a view. Using it is rejected.
 */
export function insertDescription(source: SourceContext, table: TableInfo, writer: RoleVariant): InsertAccess | null {
  const access = insertAccess(source, table, writer);
  if (access !== null || writer.role !== ADMIN_ROLE) return access;
  return isWritable(source, table, true) ? ADMIN_INSERT : null;
}

/** Returns null if the role may not update the table. */
export function updateAccess(source: SourceContext, table: TableInfo, writer: RoleVariant): UpdateAccess | null {
  if (!isWritable(source, table, table.catalog.updatable)) return null;
  if (writer.role === ADMIN_ROLE) return ADMIN_UPDATE;
  return granted(table.permissions.get(writer.role)?.update, writer);
}

/** Returns null if the role may not delete from the table. */
export function deleteAccess(source: SourceContext, table: TableInfo, writer: RoleVariant): DeleteAccess | null {
  if (!isWritable(source, table, table.catalog.deletable)) return null;
  if (writer.role === ADMIN_ROLE) return ADMIN_DELETE;
  return granted(table.permissions.get(writer.role)?.delete, writer);
}

function isWritable(source: SourceContext, table: TableInfo, isSupported: boolean): boolean {
  return isSupported && source.exposes(table) && source.info.backend.capabilities.mutations;
}

function granted<P extends { readonly backendOnly: boolean }>(permission: P | undefined, writer: RoleVariant): P | null {
  if (permission === undefined) return null;
  return permission.backendOnly && writer.variant === 'frontend' ? null : permission;
}

/** Returns true if the column accepts values. */
export function acceptsValues(column: CatalogColumn): boolean {
  return !column.generated && column.identity !== 'always';
}

/** Returns the hook of the permission, if there is one, with its input, as part of a write. */
export function validated(access: Validated, input: () => InputValidation['input']): { readonly validations?: readonly InputValidation[] } {
  return access.validateInput === null ? {} : { validations: [{ hook: access.validateInput, input: input() }] };
}

/** Returns the inputs of the request as one object, by name. */
export function writtenObject(inputs: ReadonlyMap<string, InputValue>): WrittenJson {
  return { kind: 'object', entries: [...inputs].map(([name, input]) => [name, input.written()]) };
}
