/**
 * What the names of a request mean for whoever asks. To administrators an absent name is absent; to every other role it is
 * one that it may not use, as a hidden one is: the answer does not tell them apart.
 */
import { ADMIN_ROLE } from '../auth/session.ts';
import type { QualifiedName } from '../catalog/catalog.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { RequestSize } from '../pipeline/request-size.ts';
import { printName } from '../metadata/table-name.ts';
import type { RoleColumn, RoleComputedField, RoleRelationship, RoleTable } from '../schema/fields/role-table.ts';
import type { RoleTables } from '../schema/role-schemas.ts';
import type { Path } from '../util/path.ts';

export type RowAction = 'select' | 'insert' | 'update' | 'delete';

/** Who asks for what of which source. */
export interface Asker {
  readonly role: string;
  readonly tables: RoleTables;
  /** Of the request so far. */
  readonly size: RequestSize;
}

export function isAdminRole(role: string): boolean {
  return role === ADMIN_ROLE;
}

export function notAllowed(role: string, printedTable: string, action: RowAction, path: Path, more = ''): SvcError {
  return new SvcError('permission-denied', `${action} on "${printedTable}" for role "${role}" is not allowed. ${more}`, { path });
}

export function absentTable(printedTable: string, path: Path): SvcError {
  return new SvcError('not-exists', `table "${printedTable}" does not exist`, { path });
}

function absentColumn(name: string, path: Path): SvcError {
  return new SvcError('not-exists', `no such column exists: "${name}"`, { path });
}

function hidden(role: string, name: string, action: RowAction, path: Path): SvcError {
  return new SvcError('permission-denied', `role "${role}" does not have permission to ${action} column "${name}"`, { path });
}

/** A column that the role does not know. */
export function unknownColumn({ role }: Asker, name: string, action: RowAction, path: Path): SvcError {
  return isAdminRole(role) ? absentColumn(name, path) : hidden(role, name, action, path);
}

/** Something that is no column, no relationship and no computed field that the role knows. */
export function unknownField({ role }: Asker, name: string, path: Path): SvcError {
  return isAdminRole(role) ? new SvcError('not-exists', `"${name}" does not exist`, { path }) : hidden(role, name, 'select', path);
}

/** Another table than that of the operation. @throws SvcError when the role may not select from it */
export function otherTable({ role, tables }: Asker, name: QualifiedName, path: Path): RoleTable {
  const table = tables.reading.table(name);
  if (table !== null) return table;
  const printed = printName(name, tables.context.info.backend.defaultSchema);
  throw isAdminRole(role) ? absentTable(printed, path) : notAllowed(role, printed, 'select', path);
}

/** @throws SvcError */
export function columnOf(asker: Asker, table: RoleTable, name: string, path: Path): RoleColumn {
  const column = table.columns.get(name);
  if (column === undefined) throw unknownColumn(asker, name, 'select', path);
  return column;
}

export function relationshipOf(table: RoleTable, name: string): RoleRelationship | undefined {
  return table.relationships.find(({ info }) => info.name === name);
}

export function computedFieldOf(table: RoleTable, name: string): RoleComputedField | undefined {
  return table.computedFields.find(({ info }) => info.name === name);
}
