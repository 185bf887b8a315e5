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
  return rows.map(([schema, name, kind, comment, estimate, defaults, enums, checks]) => ({
    name: { schema: schema ?? '', name: name ?? '' },
    kind: TABLE_KINDS[kind ?? ''] ?? 'table',
    comment: comment ?? null,
    estimatedRows: estimate === null || estimate === undefined ? null : Number(estimate),
    defaults: new Map(Object.entries(JSON.parse(defaults ?? '{}') as Record<string, string>)),
    choices: new Map([...choicesOfChecks(checks), ...Object.entries(JSON.parse(enums ?? '{}') as Record<string, string[]>)]),
  }));
}

/** Values of the check constraints that compare one column with a list of texts, by column. */
function choicesOfChecks(checks: string | null | undefined): readonly (readonly [column: string, values: readonly string[]])[] {
  return (JSON.parse(checks ?? '[]') as [string, string][]).flatMap(([column, condition]) => {
    const values = listedTexts(column, condition);
    return values === undefined ? [] : [[column, values] as const];
  });
}

const TEXTS = /'(?:[^']|'')*'/g;

/**
 * Returns the texts of a constraint such as `CHECK ((column = ANY (ARRAY['a'::text, 'b'::text])))`, which is how the database prints
 * `check (column in ('a', 'b'))`; undefined for any other condition.
 */
function listedTexts(column: string, condition: string): readonly string[] | undefined {
  const shape = condition
    .replace(TEXTS, '?')
    .replace(/::[a-z]+(?: [a-z]+)*(?:\[\])?/g, '')
    .replace(/[()"]/g, '');
  const [before, list] = shape.split(' = ANY ARRAY[');
  if (before !== `CHECK ${column}` || list === undefined || !/^\?(?:, \?)*\]$/.test(list)) return undefined;
  return condition.match(TEXTS)?.map((text) => text.slice(1, -1).replaceAll("''", "'"));
}
