/** Context of a data operation: the requester and the table. */
import type { CatalogColumn } from '../catalog/catalog.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { MutationField, MutationOutput } from '../ir/mutation.ts';
import { acceptsValues } from '../schema/fields/write-access.ts';
import type { WriteTable } from '../schema/fields/write-table.ts';
import type { RoleTable } from '../schema/fields/role-table.ts';
import { at, type Path } from '../util/path.ts';
import { type RowAction, absentTable, type Requester, requiredColumn, isAdminRole, notAllowed, unknownColumn } from './data-names.ts';

export interface DataContext {
  readonly requester: Requester;
  readonly table: WriteTable;
  /** Name of the table for messages. */
  readonly printedTable: string;
  /** Path of the arguments. */
  readonly path: Path;
}

const ABLE = { insert: 'insertable', update: 'updatable', delete: 'deletable' } as const;

/** Returns the error for a table that does not exist or is invisible: except for administrators, the same in both cases. */
export function refuseTable(role: string, printedTable: string, action: RowAction, path: Path, more = ''): SvcError {
  return isAdminRole(role) ? absentTable(printedTable, at(path, 'table')) : notAllowed(role, printedTable, action, path, more);
}

/** @throws SvcError permission-denied */
export function selectable({ requester: { role }, table, printedTable, path }: DataContext, more = ''): RoleTable {
  if (table.selected === null) throw notAllowed(role, printedTable, 'select', path, more);
  return table.selected;
}

/** @throws SvcError if the role lacks the permission, or the table does not support the action */
export function requireWritable(
  { requester: { role }, table, printedTable, path }: DataContext,
  action: Exclude<RowAction, 'select'>,
): void {
  if (table[action] !== null) return;
  if (isAdminRole(role)) throw new SvcError('not-supported', `"${printedTable}" is not ${ABLE[action]}`, { path });
  throw notAllowed(role, printedTable, action, path);
}

/** Returns a column that the request writes. @throws SvcError if the role may not write it */
export function writtenColumn({ requester, table }: DataContext, action: 'insert' | 'update', name: string, path: Path): CatalogColumn {
  const column = (action === 'insert' ? table.insertColumns() : table.updateColumns()).get(name);
  if (column !== undefined) return column.info.catalog;
  // The reason is only revealed for columns that are visible to the role.
  const known = table.selected?.columns.get(name)?.info.catalog;
  if (known === undefined) throw unknownColumn(requester, name, action, path);
  if (table[action]?.presets.has(name) === true) {
    const message = `column "${name}" is not ${ABLE[action]} for role "${requester.role}"; its value is predefined in permission`;
    throw new SvcError('not-supported', message, { path });
  }
  if (!acceptsValues(known)) throw new SvcError('not-supported', `column "${name}" is not ${ABLE[action]}`, { path });
  throw unknownColumn(requester, name, action, path);
}

/** Returns the output of a write. @throws SvcError if `returning` is given without the select permission */
export function writeOutput(context: DataContext, returning: readonly string[] | undefined): MutationOutput {
  const { requester } = context;
  const fields: MutationField[] = [{ kind: 'affected-rows', alias: 'affected_rows' }];
  requester.size.addNode(1);
  requester.size.addFields(1, 2);
  if (returning !== undefined) {
    const table = selectable(context);
    const path = at(context.path, 'returning');
    requester.size.addNode(2);
    const columns = returning.flatMap((name, i) => {
      if (name !== '*') return [[name, requiredColumn(requester, table, name, at(path, i))] as const];
      requester.size.addFields(table.columns.size, 3);
      return [...table.columns];
    });
    const returned = [...new Map(columns)].map(([alias, { read }]) => ({ kind: 'read', alias, read, jsonPath: null }) as const);
    requester.size.addFields(returned.length, 3);
    fields.push({ kind: 'returning', alias: 'returning', fields: returned });
  }
  return { kind: 'response', fields };
}
