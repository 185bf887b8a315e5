/**
 * Many rows of a variable with values for the same columns and without nested rows: they are read column by column, so that the plan does
 * not grow with their number and serves any number of rows.
 */
import type { CatalogColumn, CatalogTable } from '../../catalog/catalog.ts';
import type { InsertRows, UniformRows } from '../../ir/mutation.ts';
import type { MembersValue, Operand } from '../../ir/value.ts';
import { nullOperand } from './comparison.ts';
import { lacksDistributionValue } from './distribution.ts';
import { keyed } from './row-key.ts';
import { validated } from './write-access.ts';
import type { WriteColumn, WriteTable } from './write-table.ts';
import type { InputValue, InputObjects } from '../../graphql-engine/types.ts';

/** Minimum rows: a single row is cheaper as a list of values. */
const MIN_ROWS = 2;

export type RowKeys = ReadonlyMap<string, 'required' | 'optional'>;

/** Returns the keys of rows that set columns. A key is optional if its absence means null: then only some rows may have it. */
export function rowKeys(table: WriteTable): RowKeys {
  return new Map(
    [...table.insertColumns().values()].map(({ name, info }) => [
      name,
      isNullIfOmitted(table.info.catalog, info.catalog) ? 'optional' : 'required',
    ]),
  );
}

/** A view applies the defaults of the tables behind it. */
function isNullIfOmitted({ kind }: CatalogTable, column: CatalogColumn): boolean {
  const stored = kind === 'table' || kind === 'partitioned-table';
  return stored && column.nullable && !column.hasDefault && column.identity === false;
}

/** Returns null if the rows have to be read one by one. @throws SvcError */
export function uniformRows(
  table: WriteTable,
  keys: RowKeys,
  list: InputValue,
  onConflict: InputValue | null,
  determined: ReadonlySet<string>,
): InsertRows | null {
  const { insert, update } = table;
  if (insert === null) return null;
  if (onConflict !== null && !table.source.info.backend.capabilities.conflictsTogether) return null;
  // The hook of an update receives each row in a different form.
  if (onConflict !== null && update !== null && update.validateInput !== null) return null;
  const objects = list.objects(MIN_ROWS, keys);
  if (objects === null || objects.keys.length === 0) return null;
  const values = new Map<string, Operand>();
  for (const key of objects.keys) {
    const column = table.insertColumns().get(key);
    if (column === undefined || determined.has(column.info.name)) return null;
    values.set(column.info.name, { value: columnValues(objects, column), type: column.place.type, list: false });
  }
  for (const [column, preset] of insert.presets) values.set(column, preset);
  if (lacksDistributionValue(table.info.catalog, (column) => values.has(column))) return null;
  const uniform: UniformRows = { values };
  return {
    table: table.info.name,
    columns: table.info.catalog.columns.flatMap(({ name, type }) => (values.has(name) ? [{ name, type }] : [])),
    rows: [],
    uniform,
    onConflict: onConflict === null ? null : (table.onConflict()?.clause(onConflict) ?? null),
    check: insert.check,
    ...keyed(table.info.catalog),
    ...validated(insert, () => [objects.written()]),
  };
}

function columnValues(objects: InputObjects, { info, name, place }: WriteColumn): MembersValue {
  const type = place.input(false);
  const value = objects.values(name, type);
  if (info.catalog.nullable) return value;
  const { check } = value;
  return {
    ...value,
    check: (json, path) => {
      if (json === null) throw nullOperand({ type, path });
      return check(json, path);
    },
  };
}
