/** What databases of several servers refuse about the column that decides on which of them a row is; refused before it is sent. */
import { type CatalogTable, distributionColumn, nameKey } from '../../catalog/catalog.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { type BoolExp, someLeaf } from '../../ir/bool-exp.ts';
import type { SourceInfo } from '../../schema-cache/schema-cache.ts';
import type { Path } from '../../util/path.ts';

/** @param column that gets another value @throws SvcError not-supported */
export function refuseMove(table: CatalogTable, column: string, path: Path): void {
  if (distributionColumn(table) !== column) return;
  const message = `the distribution column "${column}" of table "${table.name.name}" cannot be updated: its value decides on which server a row is`;
  throw new SvcError('not-supported', message, { path });
}

/** @param key the columns that tell which rows are there already @throws SvcError not-supported */
export function refuseScatteredKey(table: CatalogTable, key: readonly string[], path: Path): void {
  const column = distributionColumn(table);
  if (column === null || key.includes(column)) return;
  const message = `rows of table "${table.name.name}" can only conflict by keys that contain its distribution column "${column}"`;
  throw new SvcError('not-supported', message, { path });
}

/**
 * Refuses conditions on other tables, unless both are on the coordinator alone.
 * @param where which of the rows that are there already become others
 * @throws SvcError not-supported
 */
export function refuseFarConditions({ tables }: SourceInfo, { distribution, name }: CatalogTable, where: BoolExp, path: Path): void {
  if (distribution === undefined) return;
  const isFar = (exp: BoolExp): boolean =>
    someLeaf(exp, (leaf) => {
      if (leaf.kind !== 'exists' && leaf.kind !== 'aggregate-predicate') return false;
      if (distribution.kind !== 'local' || leaf.from.kind === 'function') return true;
      const other = tables.get(nameKey(leaf.from.name))?.catalog.distribution;
      return (other !== undefined && other.kind !== 'local') || isFar(leaf.where);
    });
  if (!isFar(where)) return;
  const message = `whether rows of table "${name.name}" change where they conflict cannot depend on rows of other tables, which may be on other servers`;
  throw new SvcError('not-supported', message, { path });
}

/** Whether nothing says on which server a new row is. @param has whether there is a value for a column */
export function isHomeless(table: CatalogTable, has: (column: string) => boolean): boolean {
  const name = distributionColumn(table);
  if (name === null || has(name)) return false;
  return table.columns.some((column) => column.name === name && !column.hasDefault && column.identity === false);
}

/** @throws SvcError constraint-violation */
export function refuseHomeless(table: CatalogTable, has: (column: string) => boolean, path: Path): void {
  if (!isHomeless(table, has)) return;
  const message = `a row of table "${table.name.name}" needs a value for its distribution column "${distributionColumn(table)}", which has no default`;
  throw new SvcError('constraint-violation', `Not-NULL violation. ${message}`, { path });
}
