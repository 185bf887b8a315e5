import type { QualifiedName, SurveyedTable } from '../../catalog/catalog.ts';
import { statement, TABLE_KINDS } from './catalog.ts';
import type { RunSqlResult } from '../../backend/connection.ts';

const SURVEY = statement('survey');

/** What the system catalogs tell of tables at once. */
export async function surveyTables(
  query: (text: string, values: readonly (string | null)[]) => Promise<RunSqlResult>,
  tables: readonly QualifiedName[] | undefined,
): Promise<readonly SurveyedTable[]> {
  const { rows } = await query(SURVEY, [tables === undefined ? null : JSON.stringify(tables)]);
  return rows.map(([schema, name, kind, comment, estimate, defaults]) => ({
    name: { schema: schema ?? '', name: name ?? '' },
    kind: TABLE_KINDS[kind ?? ''] ?? 'table',
    comment: comment ?? null,
    estimatedRows: estimate === null || estimate === undefined ? null : Number(estimate),
    defaults: new Map(Object.entries(JSON.parse(defaults ?? '{}') as Record<string, string>)),
  }));
}
