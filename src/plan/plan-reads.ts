/** Names of the tables and functions that an operation reads, with their source. */
import type { QualifiedName } from '../catalog/catalog.ts';
import type { TranslatedOperation } from '../graphql-engine/translation.ts';
import { objectsRead } from '../ir/reads.ts';
import type { SelectQuery } from '../ir/select.ts';

/** @param name `<source>.<schema>.<table>` */
export function tableRead(name: string): string {
  return `table ${name}`;
}

/**
 * Returns the tables and functions of sources that a query reads: roots, relationships, joins, conditions and permissions. Tables that a
 * view or a function reads are not known.
 */
export function planReads({ roots, joins }: Pick<TranslatedOperation, 'roots' | 'joins'>): ReadonlySet<string> {
  const reads = new Set<string>();
  const add = (source: string, query: SelectQuery): void => {
    const { tables, functions } = objectsRead(query);
    for (const table of tables) reads.add(tableRead(printed(source, table)));
    for (const fn of functions) reads.add(`function ${printed(source, fn)}`);
  };
  for (const root of roots) if (root.kind === 'source' && root.root.mutation === undefined) add(root.source, root.root.query);
  for (const { target } of joins) if (target.kind === 'source') add(target.source, target.query);
  return reads;
}

function printed(source: string, { schema, name }: QualifiedName): string {
  return `${source}.${schema}.${name}`;
}
