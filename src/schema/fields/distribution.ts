/**
 * Rejects, before a statement is sent, what a cluster of servers does not support for the column that decides on which server a row is
 * stored.
 */
import { type CatalogTable, distributionColumn, nameKey } from '../../catalog/catalog.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { type BoolExp, someLeaf } from '../../ir/bool-exp.ts';
import type { SourceInfo } from '../../schema-cache/schema-cache.ts';
import type { Path } from '../../util/path.ts';

/** @param column column that gets a new value @throws SvcError not-supported */
export function rejectRowMove(table: CatalogTable, column: string, path: Path): void {
  if (distributionColumn(table) !== column) return;
  const message = `the distribution column "${column}" of table "${table.name.name}" cannot be updated: its value decides on which server a row is`;
  throw new SvcError('not-supported', message, { path });
}

/** @param key columns by which rows conflict @throws SvcError not-supported */
export function rejectScatteredKey(table: CatalogTable, key: readonly string[], path: Path): void {
  const column = distributionColumn(table);
  if (column === null || key.includes(column)) return;
  const message = `rows of table "${table.name.name}" can only conflict by keys that contain its distribution column "${column}"`;
  throw new SvcError('not-supported', message, { path });
}

/**
 * Rejects conditions on other tables, unless both tables are on the coordinator only.
 * @param where condition on the existing rows that are updated
 * @throws SvcError not-supported
 */
export function rejectRemoteConditions({ tables }: SourceInfo, { distribution, name }: CatalogTable, where: BoolExp, path: Path): void {
  if (distribution === undefined) return;
  const readsRemoteTable = (exp: BoolExp): boolean =>
    someLeaf(exp, (leaf) => {
      if (leaf.kind !== 'exists' && leaf.kind !== 'aggregate-predicate') return false;
      if (distribution.kind !== 'local' || leaf.from.kind === 'function') return true;
      const other = tables.get(nameKey(leaf.from.name))?.catalog.distribution;
      return (other !== undefined && other.kind !== 'local') || readsRemoteTable(leaf.where);
    });
  if (!readsRemoteTable(where)) return;
  const message = `whether rows of table "${name.name}" change where they conflict cannot depend on rows of other tables, which may be on other servers`;
  throw new SvcError('not-supported', message, { path });
}

/** Returns true if nothing determines on which server a new row is stored. @param has returns true if a column has a value */
export function lacksDistributionValue(table: CatalogTable, has: (column: string) => boolean): boolean {
  const name = distributionColumn(table);
  if (name === null || has(name)) return false;
  return table.columns.some((column) => column.name === name && !column.hasDefault && column.identity === false);
}

/** @throws SvcError constraint-violation */
export function requireDistributionValue(table: CatalogTable, has: (column: string) => boolean, path: Path): void {
  if (!lacksDistributionValue(table, has)) return;
  const message = `a row of table "${table.name.name}" needs a value for its distribution column "${distributionColumn(table)}", which has no default`;
  throw new SvcError('constraint-violation', `Not-NULL violation. ${message}`, { path });
}
