/**
 * Tracked tables as a role may read them, under the names of the database: what the legacy data
 * operations build their queries from.
 */
import { ADMIN_ROLE } from '../../auth/session.ts';
import { type CatalogColumn, nameKey, type QualifiedName } from '../../catalog/catalog.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { type BoolExp, FALSE, TRUE } from '../../ir/bool-exp.ts';
import type { Read } from '../../ir/read.ts';
import type { Join, Relation } from '../../ir/relation.ts';
import { printName } from '../../metadata/table-name.ts';
import type { ComputedFieldInfo, SourceInfo, TableInfo } from '../../schema-cache/schema-cache.ts';
import type { Path } from '../../util/path.ts';
import type { SelectionSize } from './selection-size.ts';

/** Who reads which source. */
export interface Reader {
  readonly source: SourceInfo;
  readonly role: string;
  /** Of the request so far. */
  readonly size: SelectionSize;
}

export interface ReadableTable {
  readonly reader: Reader;
  readonly info: TableInfo;
  readonly relation: Relation;
  /** The role's permission filter. */
  readonly filter: BoolExp;
  readonly limit: number | null;
  /** Columns that the role may select, in the order of the catalog. */
  readonly columns: ReadonlyMap<string, ReadableColumn>;
  /** Mask by computed field that the role may select; null when it may select all of them. */
  readonly computedFields: ReadonlyMap<string, BoolExp | null> | null;
  /** False for a table that the role may only write to: nothing in it can be named. */
  readonly selectable: boolean;
}

export interface ReadableColumn {
  readonly catalog: CatalogColumn;
  readonly read: Read;
}

export function printTable({ source }: Reader, name: QualifiedName): string {
  return printName(name, source.backend.defaultSchema);
}

/** @throws SvcError not-exists when the table is not tracked */
export function trackedTable(reader: Reader, name: QualifiedName, path: Path): TableInfo {
  const info = reader.source.tables.get(nameKey(name));
  if (info === undefined) throw new SvcError('not-exists', `table "${printTable(reader, name)}" does not exist`, { path });
  return info;
}

/** @throws SvcError permission-denied when the role may not select from the table */
export function readableTable(reader: Reader, info: TableInfo, path: Path): ReadableTable {
  const table = readableOrUnseen(reader, info);
  if (!table.selectable) throw notAllowed(reader, info, 'select', path);
  return table;
}

/** The table without any columns where the role may not select: conditions on it can say nothing. */
export function readableOrUnseen(reader: Reader, info: TableInfo): ReadableTable {
  const { catalog, permissions } = info;
  const relation: Relation = { kind: 'table', name: info.name, ...(catalog.stored === true ? { stored: true } : {}) };
  const columnsOf = (maskOf: (column: string) => BoolExp | null | undefined): ReadonlyMap<string, ReadableColumn> => {
    const columns = new Map<string, ReadableColumn>();
    for (const column of catalog.columns) {
      const { name, type } = column;
      const mask = maskOf(name);
      if (mask !== undefined) columns.set(name, { catalog: column, read: { kind: 'column', column: name, type, ...masked(mask) } });
    }
    return columns;
  };
  const all = { reader, info, relation, limit: null, computedFields: null, selectable: true };
  if (reader.role === ADMIN_ROLE) return { ...all, filter: TRUE, columns: columnsOf(() => null) };
  const select = permissions.get(reader.role)?.select;
  if (select === undefined) return { ...all, filter: FALSE, columns: new Map(), computedFields: new Map(), selectable: false };
  const { filter, limit, columns, computedFields } = select;
  return { ...all, filter, limit, columns: columnsOf((name) => columns.get(name)), computedFields };
}

export function masked(mask: BoolExp | null): { readonly mask?: BoolExp } {
  return mask === null ? {} : { mask };
}

export function notAllowed(reader: Reader, info: TableInfo, action: string, path: Path, more = ''): SvcError {
  const message = `${action} on "${printTable(reader, info.name)}" for role "${reader.role}" is not allowed. ${more}`;
  return new SvcError('permission-denied', message, { path });
}

export function noSuchColumn(name: string, path: Path): SvcError {
  return new SvcError('not-exists', `no such column exists: "${name}"`, { path });
}

/** @throws SvcError permission-denied for a column that the role may not select, not-exists for one that is not there */
export function readableColumn(table: ReadableTable, name: string, path: Path): ReadableColumn {
  const column = table.columns.get(name);
  if (column !== undefined) return column;
  if (!table.info.catalog.columns.some((each) => each.name === name)) throw noSuchColumn(name, path);
  throw hiddenColumn(table.reader, 'select', name, path);
}

export function hiddenColumn({ role }: Reader, action: string, name: string, path: Path): SvcError {
  return new SvcError('permission-denied', `role "${role}" does not have permission to ${action} column "${name}"`, { path });
}

export interface ReadableRelationship {
  readonly kind: 'object' | 'array';
  readonly join: Join;
  readonly target: ReadableTable;
}

/** Undefined when there is no such relationship. @throws SvcError permission-denied when the role may not select from its target */
export function readableRelationship(table: ReadableTable, name: string, path: Path): ReadableRelationship | undefined {
  const relationship = table.selectable ? table.info.relationships.get(name) : undefined;
  if (relationship === undefined) return undefined;
  const { kind, join, target } = relationship;
  return { kind, join, target: readableTable(table.reader, trackedTable(table.reader, target, path), path) };
}

/** Undefined when there is no such computed field. @throws SvcError permission-denied when the role may not select it */
export function readableComputedField(
  table: ReadableTable,
  name: string,
  path: Path,
): { readonly info: ComputedFieldInfo; readonly mask: BoolExp | null } | undefined {
  const info = table.selectable ? table.info.computedFields.get(name) : undefined;
  if (info === undefined) return undefined;
  // Those that give rows of a table need the permission on that table only.
  const mask = table.computedFields === null || info.returns.kind === 'table' ? null : table.computedFields.get(name);
  if (mask === undefined) {
    const message = `role "${table.reader.role}" does not have permission to select computed field "${name}"`;
    throw new SvcError('permission-denied', message, { path });
  }
  return { info, mask };
}
