import type { CatalogColumn, CatalogTable } from '../../catalog/catalog.ts';
import type { RowKey } from '../../ir/mutation.ts';

interface Keyed {
  readonly key?: RowKey;
}

const known = new WeakMap<CatalogTable, Keyed>();

/** Returns the columns that identify the rows of the table, if there are any, as part of a write. */
export function keyed(table: CatalogTable): Keyed {
  let found = known.get(table);
  if (found === undefined) {
    const key = rowKey(table);
    found = key === null ? {} : { key };
    known.set(table, found);
  }
  return found;
}

function rowKey({ columns, primaryKey, uniqueConstraints }: CatalogTable): RowKey | null {
  const byName = new Map(columns.map((column) => [column.name, column]));
  for (const { columns: names } of primaryKey === null ? uniqueConstraints : [primaryKey]) {
    const found = names.flatMap((name) => byName.get(name) ?? []);
    // If a column may be null, several rows may have the same values.
    if (found.length === names.length && found.every(({ nullable }: CatalogColumn) => !nullable)) {
      return found.map(({ name, type }) => ({ name, type }));
    }
  }
  return null;
}

/** Returns the columns of a key that the database numbers itself. */
export function autoIncrementColumns({ columns }: CatalogTable, key: readonly string[]): readonly string[] {
  return columns.flatMap(({ name, identity }) => (identity !== false && key.includes(name) ? [name] : []));
}
