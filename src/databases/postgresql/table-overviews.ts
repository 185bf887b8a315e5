import type { QualifiedName, TableOverview } from '../../catalog/catalog.ts';
import { statement, TABLE_KINDS } from './catalog.ts';
import type { RunSqlResult } from '../../backend/connection.ts';

const TABLE_OVERVIEWS = statement('table-overviews');

/** Reads overviews of tables from the system catalogs, without reading rows of the tables. */
export async function readTableOverviews(
  query: (text: string, values: readonly (string | null)[]) => Promise<RunSqlResult>,
  tables: readonly QualifiedName[] | undefined,
): Promise<readonly TableOverview[]> {
  const { rows } = await query(TABLE_OVERVIEWS, [tables === undefined ? null : JSON.stringify(tables)]);
  return rows.map(([schema, name, kind, comment, estimate, defaults]) => ({
    name: { schema: schema ?? '', name: name ?? '' },
    kind: TABLE_KINDS[kind ?? ''] ?? 'table',
    comment: comment ?? null,
    estimatedRows: estimate === null || estimate === undefined ? null : Number(estimate),
    defaults: new Map(Object.entries(JSON.parse(defaults ?? '{}') as Record<string, string>)),
  }));
}
