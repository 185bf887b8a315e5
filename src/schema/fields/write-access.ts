/** What a role may write to a table, in one variant of its schema. Looks at permissions only. */
import { ADMIN_ROLE } from '../../auth/session.ts';
import type { CatalogColumn } from '../../catalog/catalog.ts';
import { type BoolExp, TRUE } from '../../ir/bool-exp.ts';
import type { InputValidation, WrittenJson } from '../../ir/input-validation.ts';
import type { ValidateInput } from '../../metadata/validate-input.ts';
import type { Preset, TableInfo } from '../../schema-cache/schema-cache.ts';
import type { SchemaVariant } from './options.ts';
import type { SourceContext } from './source-context.ts';
import type { Input } from '../../graphql-engine/types.ts';

/** Who writes: permissions for trusted requests only (`backend_only`) count in the backend variant. */
export interface Writer {
  readonly role: string;
  readonly variant: SchemaVariant;
}

interface Validated {
  /** A hook that has to see the input first. */
  readonly validateInput: ValidateInput | null;
}

export interface InsertAccess extends Validated {
  /** Columns by database name, without those of presets; null: every column (admin). */
  readonly columns: ReadonlySet<string> | null;
  readonly check: BoolExp;
  readonly presets: ReadonlyMap<string, Preset>;
}

export interface UpdateAccess extends Validated {
  readonly columns: ReadonlySet<string> | null;
  readonly filter: BoolExp;
  /** null: rows may become anything. */
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

/** Null when the role may not insert into the table, or nobody can. */
export function insertAccess(source: SourceContext, table: TableInfo, writer: Writer): InsertAccess | null {
  if (!isWritable(source, table, table.catalog.insertable)) return null;
  if (writer.role === ADMIN_ROLE) return ADMIN_INSERT;
  return granted(table.permissions.get(writer.role)?.insert, writer);
}

/**
 * What the input type of the table says. It is there for administrators where nobody can insert, too: clients are generated from
 * schemas in which a row may name rows of a view. Using it is refused.
 */
export function insertDescription(source: SourceContext, table: TableInfo, writer: Writer): InsertAccess | null {
  const access = insertAccess(source, table, writer);
  if (access !== null || writer.role !== ADMIN_ROLE) return access;
  return isWritable(source, table, true) ? ADMIN_INSERT : null;
}

/** What the writer may update; null: nothing. */
export function updateAccess(source: SourceContext, table: TableInfo, writer: Writer): UpdateAccess | null {
  if (!isWritable(source, table, table.catalog.updatable)) return null;
  if (writer.role === ADMIN_ROLE) return ADMIN_UPDATE;
  return granted(table.permissions.get(writer.role)?.update, writer);
}

/** What the writer may delete; null: nothing. */
export function deleteAccess(source: SourceContext, table: TableInfo, writer: Writer): DeleteAccess | null {
  if (!isWritable(source, table, table.catalog.deletable)) return null;
  if (writer.role === ADMIN_ROLE) return ADMIN_DELETE;
  return granted(table.permissions.get(writer.role)?.delete, writer);
}

function isWritable(source: SourceContext, table: TableInfo, able: boolean): boolean {
  return able && source.knows(table) && source.info.backend.capabilities.mutations;
}

function granted<P extends { readonly backendOnly: boolean }>(permission: P | undefined, writer: Writer): P | null {
  if (permission === undefined) return null;
  return permission.backendOnly && writer.variant === 'frontend' ? null : permission;
}

/** Whether values for the column can be given at all. */
export function takesValues(column: CatalogColumn): boolean {
  return !column.generated && column.identity !== 'always';
}

/** Part of a write: the hook of the permission, if there is one, and what it has to see. */
export function validated(access: Validated, input: () => InputValidation['input']): { readonly validations?: readonly InputValidation[] } {
  return access.validateInput === null ? {} : { validations: [{ hook: access.validateInput, input: input() }] };
}

/** What was given by name, as one object. */
export function writtenObject(inputs: ReadonlyMap<string, Input>): WrittenJson {
  return { kind: 'object', entries: [...inputs].map(([name, input]) => [name, input.written()]) };
}
