import type { DumpContext, Query } from '../../../backend/migration-dialect.ts';
import type { QualifiedName } from '../../../catalog/catalog.ts';
import { dialect } from '../compile/dialect.ts';

/** Returns the rows of a table as statements that insert them. @param name name of the table as in SQL, with quotes where needed */
export async function dumpRows({ rows, failure, source }: DumpContext, name: string, upsert: boolean): Promise<string> {
  const [[shown = 'NULL'] = []] = await rows(`select pg_catalog.to_regclass(${dialect.string(name)})::text`);
  if (shown === 'NULL') throw failure('not-exists', `there is no table "${name}" in ${source}`);
  const columns = await rows(
    `select quote_ident(a.attname), a.attidentity = 'a', coalesce(a.attnum = any (i.indkey), false) from pg_attribute a left join pg_index i on i.indrelid = a.attrelid and i.indisprimary where a.attrelid = ${dialect.string(shown)}::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' order by a.attnum`,
  );
  const list = columns.map(([column, always, key]) => ({ column: String(column), always: always === 't', key: key === 't' }));
  const keys = list.filter(({ key }) => key).map(({ column }) => column);
  if (upsert && keys.length === 0) throw failure('seed', `the table ${shown} has no primary key: its rows cannot be upserted`);
  const others = list.filter(({ key }) => !key).map(({ column }) => `${column} = excluded.${column}`);
  const conflict = !upsert
    ? ''
    : ` on conflict (${keys.join(', ')}) do ${others.length === 0 ? 'nothing' : `update set ${others.join(', ')}`}`;
  const head = `insert into ${shown} (${list.map(({ column }) => column).join(', ')})${list.some(({ always }) => always) ? ' overriding system value' : ''} values (`;
  const values = list.map(({ column }) => `quote_nullable(${column}::text)`).join(` || ', ' || `);
  const order = keys.length === 0 ? '' : ` order by ${keys.join(', ')}`;
  const written = await rows(`select ${dialect.string(head)} || ${values} || ${dialect.string(`)${conflict};`)} from ${shown}${order}`);
  return written.map(([row]) => `${row}\n`).join('');
}

/** Returns the name of a table in SQL. */
export function tableNameText({ schema, name }: QualifiedName): string {
  return `${dialect.identifier(schema)}.${dialect.identifier(name)}`;
}

/** Returns whether one of the tables exists and has no rows. */
export async function hasEmpty(rows: Query, tables: readonly QualifiedName[]): Promise<boolean> {
  const names = tables.map((table) => dialect.string(tableNameText(table))).join(', ');
  const existing = await rows(
    `select name from unnest(array[${names}]::text[]) as names (name) where pg_catalog.to_regclass(name) is not null`,
  );
  const empty = existing.map(([name]) => `not exists (select from ${name})`).join(' or ');
  return empty !== '' && (await rows(`select case when ${empty} then '1' else '0' end`))[0]?.[0] === '1';
}
