/**
 * Lookup of the names in a request. For administrators, an absent name gives a not-exists error; for other roles, absent and hidden names
 * give the same permission error, so that an answer does not reveal which names exist.
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

/** Role of the request, with the tables of the source that are visible to it. */
export interface Requester {
  readonly role: string;
  readonly tables: RoleTables;
  /** Size of the request so far. */
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

/** Returns the error for a column that is invisible to the role. */
export function unknownColumn({ role }: Requester, name: string, action: RowAction, path: Path): SvcError {
  return isAdminRole(role) ? absentColumn(name, path) : hidden(role, name, action, path);
}

/** Returns the error for a name that is not a column, relationship or computed field visible to the role. */
export function unknownField({ role }: Requester, name: string, path: Path): SvcError {
  return isAdminRole(role) ? new SvcError('not-exists', `"${name}" does not exist`, { path }) : hidden(role, name, 'select', path);
}

/** Returns another table of the source. @throws SvcError if the role may not select from it */
export function otherTable({ role, tables }: Requester, name: QualifiedName, path: Path): RoleTable {
  const table = tables.reading.table(name);
  if (table !== null) return table;
  const printed = printName(name, tables.context.info.backend.defaultSchema);
  throw isAdminRole(role) ? absentTable(printed, path) : notAllowed(role, printed, 'select', path);
}

/** @throws SvcError */
export function requiredColumn(requester: Requester, table: RoleTable, name: string, path: Path): RoleColumn {
  const column = table.columns.get(name);
  if (column === undefined) throw unknownColumn(requester, name, 'select', path);
  return column;
}

export function findRelationship(table: RoleTable, name: string): RoleRelationship | undefined {
  return table.relationships.find(({ info }) => info.name === name);
}

export function findComputedField(table: RoleTable, name: string): RoleComputedField | undefined {
  return table.computedFields.find(({ info }) => info.name === name);
}
