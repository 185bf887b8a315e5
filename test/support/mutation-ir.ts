/** Shorthands for mutation IR. */
import type { CatalogType } from '../../src/catalog/catalog.ts';
import { TRUE } from '../../src/ir/bool-exp.ts';
import type {
  Assignment,
  Delete,
  Insert,
  InsertRow,
  InsertRows,
  MutationField,
  MutationOutput,
  NestedArray,
  NestedColumn,
  NestedObject,
  OnConflict,
  Update,
} from '../../src/ir/mutation.ts';
import type { Field } from '../../src/ir/select.ts';
import type { Value } from '../../src/ir/value.ts';
import type { Json } from '../../src/util/json.ts';
import { along, at, type Path, ROOT } from '../../src/util/path.ts';
import { int, operand, text, type } from './ir.ts';

export const OBJECTS: Path = along(ROOT, 'selectionSet', 'insert_it', 'args', 'objects');

export type Cells = Readonly<Record<string, Json | Value>>;

/** Types of the columns that are neither `int4` nor `text`. */
export type Types = Readonly<Record<string, CatalogType>>;

function typeOf(name: string, cells: Json | Value, types: Types): CatalogType {
  return types[name] ?? (typeof cells === 'number' || name.endsWith('id') ? int : text);
}

function isValue(cell: Json | Value): cell is Value {
  return typeof cell === 'object' && cell !== null && !Array.isArray(cell) && 'kind' in cell;
}

export interface RowOptions {
  readonly before?: readonly NestedObject[];
  readonly after?: readonly (NestedObject | NestedArray)[];
  readonly types?: Types;
  readonly path?: Path;
}

export function row(cells: Cells, { before = [], after = [], types = {}, path = at(OBJECTS, 0) }: RowOptions = {}): InsertRow {
  const values = new Map(
    Object.entries(cells).map(([name, cell]) => [
      name,
      operand(isValue(cell) ? cell : { kind: 'literal', json: cell }, typeOf(name, cell, types)),
    ]),
  );
  return { path, values, before, after };
}

export function insertRows(name: string, rows: readonly InsertRow[], more: Partial<InsertRows> = {}): InsertRows {
  const columns = new Map<string, CatalogType>();
  for (const { values } of rows) for (const [column, { type: of }] of values) if (!columns.has(column)) columns.set(column, of);
  return {
    table: { schema: 'public', name },
    columns: [...columns].map(([column, of]) => ({ name: column, type: of })),
    rows,
    onConflict: null,
    check: TRUE,
    ...more,
  };
}

export function insert(rows: InsertRows, output: MutationOutput, contained = false): Insert {
  return { kind: 'insert', table: rows.table, rows, output, path: OBJECTS, contained };
}

/** Columns whose names end in `id` are `int4`, others `text`. */
export function nestedColumn(local: string, remote: string, source = remote): NestedColumn {
  return { local, remote, type: source.endsWith('id') ? int : text };
}

export function nestedObject(name: string, local: string, remote: string, rows: InsertRows): NestedObject {
  return { kind: 'object', name, path: along(OBJECTS, 0, name), columns: [nestedColumn(local, remote)], rows };
}

export function nestedArray(name: string, local: string, remote: string, rows: InsertRows): NestedArray {
  return { kind: 'array', name, columns: [nestedColumn(local, remote)], rows };
}

export function conflict(
  constraint: string,
  columns: readonly string[] = [],
  more: Partial<NonNullable<OnConflict['update']>> = {},
): OnConflict {
  const update = { columns, presets: new Map(), where: TRUE, check: null, ...more };
  return { constraint, update: columns.length === 0 && update.presets.size === 0 ? null : update };
}

export function response(...fields: readonly MutationField[]): MutationOutput {
  return { kind: 'response', fields };
}

export const affected: MutationField = { kind: 'affected-rows', alias: 'affected_rows' };

export function returning(...fields: readonly Field[]): MutationField {
  return { kind: 'returning', alias: 'returning', fields };
}

export function oneRow(...fields: readonly Field[]): MutationOutput {
  return { kind: 'row', fields };
}

export function set(
  column: string,
  value: Json | Value,
  of: CatalogType = typeOf(column, value, {}),
  operator: Assignment['operator'] = 'set',
): Assignment {
  return { column, type: of, operator, operand: operand(isValue(value) ? value : { kind: 'literal', json: value }, of) };
}

export function update(name: string, assignments: readonly Assignment[], output: MutationOutput, more: Partial<Update> = {}): Update {
  return { kind: 'update', table: { schema: 'public', name }, where: TRUE, assignments, check: TRUE, output, contained: false, ...more };
}

export function remove(name: string, output: MutationOutput, more: Partial<Delete> = {}): Delete {
  return { kind: 'delete', table: { schema: 'public', name }, where: TRUE, output, contained: false, ...more };
}

export const jsonb = type('jsonb');
