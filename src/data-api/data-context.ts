/** What a data operation works with besides its arguments, and the table that it names. */
import type { CatalogColumn } from '../catalog/catalog.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { MutationField, MutationOutput } from '../ir/mutation.ts';
import { takesValues } from '../schema/fields/write-access.ts';
import type { WriteTable } from '../schema/fields/write-table.ts';
import type { RoleTable } from '../schema/fields/role-table.ts';
import { at, type Path } from '../util/path.ts';
import { type RowAction, absentTable, type Asker, columnOf, isAdminRole, notAllowed, unknownColumn } from './data-names.ts';

export interface DataContext {
  readonly asker: Asker;
  readonly table: WriteTable;
  /** The table as the request means it. */
  readonly printedTable: string;
  /** Of the arguments. */
  readonly path: Path;
}

const ABLE = { insert: 'insertable', update: 'updatable', delete: 'deletable' } as const;

/** @throws SvcError as if the role could not select, for whatever is not there too */
export function refuseTable(role: string, printedTable: string, action: RowAction, path: Path, more = ''): SvcError {
  return isAdminRole(role) ? absentTable(printedTable, at(path, 'table')) : notAllowed(role, printedTable, action, path, more);
}

/** @throws SvcError permission-denied */
export function selectable({ asker: { role }, table, printedTable, path }: DataContext, more = ''): RoleTable {
  if (table.selected === null) throw notAllowed(role, printedTable, 'select', path, more);
  return table.selected;
}

/** @throws SvcError when the role may not do this with rows of the table */
export function requireWritable({ asker: { role }, table, printedTable, path }: DataContext, action: Exclude<RowAction, 'select'>): void {
  if (table[action] !== null) return;
  if (isAdminRole(role)) throw new SvcError('not-supported', `"${printedTable}" is not ${ABLE[action]}`, { path });
  throw notAllowed(role, printedTable, action, path);
}

/** A column that a value is given for. @throws SvcError when the role cannot give one */
export function writtenColumn({ asker, table }: DataContext, action: 'insert' | 'update', name: string, path: Path): CatalogColumn {
  const column = (action === 'insert' ? table.insertColumns() : table.updateColumns()).get(name);
  if (column !== undefined) return column.info.catalog;
  // Why, only of columns that the role knows.
  const known = table.selected?.columns.get(name)?.info.catalog;
  if (known === undefined) throw unknownColumn(asker, name, action, path);
  if (table[action]?.presets.has(name) === true) {
    const message = `column "${name}" is not ${ABLE[action]} for role "${asker.role}"; its value is predefined in permission`;
    throw new SvcError('not-supported', message, { path });
  }
  if (!takesValues(known)) throw new SvcError('not-supported', `column "${name}" is not ${ABLE[action]}`, { path });
  throw unknownColumn(asker, name, action, path);
}

/** The answer of a write: its rows need the select permission. @throws SvcError */
export function writeOutput(context: DataContext, returning: readonly string[] | undefined): MutationOutput {
  const { asker } = context;
  const fields: MutationField[] = [{ kind: 'affected-rows', alias: 'affected_rows' }];
  asker.size.addNode(1);
  asker.size.addFields(1, 2);
  if (returning !== undefined) {
    const table = selectable(context);
    const path = at(context.path, 'returning');
    asker.size.addNode(2);
    const columns = returning.flatMap((name, i) => {
      if (name !== '*') return [[name, columnOf(asker, table, name, at(path, i))] as const];
      asker.size.addFields(table.columns.size, 3);
      return [...table.columns];
    });
    const returned = [...new Map(columns)].map(([alias, { read }]) => ({ kind: 'read', alias, read, jsonPath: null }) as const);
    asker.size.addFields(returned.length, 3);
    fields.push({ kind: 'returning', alias: 'returning', fields: returned });
  }
  return { kind: 'response', fields };
}
