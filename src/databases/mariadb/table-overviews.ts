import { nameKey, type QualifiedName, type TableOverview } from '../../catalog/catalog.ts';
import { IS_TABLE } from './catalog.ts';
import type { RunSqlResult } from '../../backend/connection.ts';

const TABLES = `select table_schema, table_name, table_type, table_comment, table_rows from information_schema.tables
where ${IS_TABLE}`;

/** Ignores the text `NULL`, which is not a default. */
const DEFAULTS = `select table_schema, table_name, column_name, column_default from information_schema.columns
where table_schema = ? and table_name = ? and column_default is not null and column_default <> 'NULL' and is_generated = 'NEVER'`;

/** Reads table overviews from `information_schema`. @param database database of the connection; its tables have no schema */
export async function readTableOverviews(
  query: (text: string, values: readonly (string | null)[]) => Promise<RunSqlResult>,
  database: string,
  tables: readonly QualifiedName[] | undefined,
): Promise<readonly TableOverview[]> {
  const nameOf = (schema: string | null | undefined, name: string | null | undefined): QualifiedName => ({
    schema: schema === database ? '' : (schema ?? ''),
    name: name ?? '',
  });
  const defaults = new Map<string, Map<string, string>>();
  for (const { schema, name } of tables ?? []) {
    const { rows } = await query(DEFAULTS, [schema === '' ? database : schema, name]);
    const key = nameKey({ schema, name });
    defaults.set(key, new Map(rows.map(([, , column, value]) => [column ?? '', value ?? ''])));
  }
  const requested = tables === undefined ? null : new Set(tables.map(nameKey));
  const { rows } = await query(TABLES, []);
  return rows.flatMap(([schema, table, type, comment, count]) => {
    const name = nameOf(schema, table);
    const key = nameKey(name);
    if (requested !== null && !requested.has(key)) return [];
    const isView = type === 'VIEW';
    return {
      name,
      kind: isView ? 'view' : 'table',
      // The comment of every view is "VIEW".
      comment: isView || comment === '' ? null : (comment ?? null),
      estimatedRows: count === null || count === undefined ? null : Number(count),
      defaults: defaults.get(key) ?? new Map(),
    } satisfies TableOverview;
  });
}
