/** A database for trials: a source of the service that holds nothing, and holds nothing again when the trial is over. */
import { failure, ProjectFailure } from '../failure.ts';
import { type ServerClient, ServerError, type SqlSource } from '../server-client.ts';
import type { Runnable } from './run-migrations.ts';
import { terminated } from './scan-sql.ts';
import { schemaLines } from './schema-lines.ts';
import { serverSources } from './sources.ts';

export interface Scratch {
  /** @throws ProjectFailure; what ran before stands */
  run(step: Runnable): Promise<void>;
  /** The schema, to be compared. @throws ProjectFailure */
  lines(): Promise<readonly string[]>;
  /** Takes away all that trials have made. @throws ProjectFailure */
  clear(): Promise<void>;
}

/** Of PostgreSQL: what somebody has made, and no extension. */
const PG_OTHERS = `n.nspname !~ '^pg_' and n.nspname not in ('information_schema', 'svc_catalog')`;
const pgExtension = (catalog: string, object: string): string =>
  `exists (select from pg_catalog.pg_depend d where d.classid = 'pg_catalog.${catalog}'::regclass and d.objid = ${object}.oid and d.deptype = 'e')`;
/** Kinds of types that are no tables: enums, domains, ranges. */
const PG_TYPES = `('e', 'd', 'r')`;
const PG_EMPTY = `select case when exists (select from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace where ${PG_OTHERS} and not ${pgExtension('pg_class', 'c')})
  or exists (select from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace where ${PG_OTHERS} and not ${pgExtension('pg_proc', 'p')})
  or exists (select from pg_catalog.pg_type t join pg_catalog.pg_namespace n on n.oid = t.typnamespace where t.typtype in ${PG_TYPES} and ${PG_OTHERS} and not ${pgExtension('pg_type', 't')}) then '0' else '1' end`;
const PG_KEPT = `select coalesce(string_agg(x, ',' order by x), '') from (select 'e ' || extname from pg_extension union all select 's ' || nspname from pg_namespace where nspname !~ '^pg_(toast_)?temp') as kept (x)`;

/** @param kept extensions and schemas that were there */
function pgClear(kept: string): string {
  const list = kept.split(',');
  const names = (mark: string): string =>
    `array[${list.flatMap((each) => (each.startsWith(`${mark} `) ? [quoted(each.slice(2))] : [])).join(', ')}]::text[]`;
  const others = (catalog: string, object: string): string => `${PG_OTHERS} and not ${pgExtension(catalog, object)}`;
  // All names before the first one goes: what goes with others has none any more.
  const each = (query: string, what: string, statement: string): string =>
    `foreach name in array coalesce((select array_agg(${what}) from ${query}), '{}') loop execute ${statement}; end loop;`;
  const kinds = `case c.relkind when 'v' then 'view' when 'm' then 'materialized view' when 'S' then 'sequence' when 'f' then 'foreign table' when 'c' then 'type' else 'table' end`;
  return `do $svc_scratch$ declare name text; begin
  ${each(`pg_extension where extname <> all (${names('e')})`, 'extname::text', `format('drop extension if exists %I cascade', name)`)}
  ${each(`pg_namespace where nspname !~ '^pg_(toast_)?temp' and nspname <> all (${names('s')})`, 'nspname::text', `format('drop schema if exists %I cascade', name)`)}
  ${each(`pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind in ('r', 'p', 'v', 'm', 'S', 'f', 'c') and ${others('pg_class', 'c')}`, `format('%s if exists %I.%I', ${kinds}, n.nspname, c.relname)`, `'drop ' || name || ' cascade'`)}
  ${each(`pg_proc p join pg_namespace n on n.oid = p.pronamespace where ${others('pg_proc', 'p')}`, `format('%I.%I(%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid))`, `'drop routine if exists ' || name || ' cascade'`)}
  ${each(`pg_type t join pg_namespace n on n.oid = t.typnamespace where t.typtype in ${PG_TYPES} and ${others('pg_type', 't')}`, `format('%I.%I', n.nspname, t.typname)`, `'drop type if exists ' || name || ' cascade'`)}
end $svc_scratch$;`;
}

function quoted(name: string): string {
  return `'${name.replaceAll("'", "''")}'`;
}

const DBB_EMPTY = `select if(exists(select 1 from information_schema.tables where table_schema = database()) or exists(select 1 from information_schema.routines where routine_schema = database()) or exists(select 1 from information_schema.events where event_schema = database()), '0', '1')`;
const DBB_NAME = `select concat(schema_name, char(10), default_character_set_name, char(10), default_collation_name) from information_schema.schemata where schema_name = database()`;

/** @param database its name, character set and collation, a line each */
function dbbClear(database: string): string {
  const [name = '', characters = '', collation = ''] = database.split('\n');
  const named = `\`${name.replaceAll('`', '``')}\``;
  // One statement: who gives up meanwhile finds an empty database again, and never none.
  return `create or replace database ${named} character set ${characters} collate ${collation};\n`;
}

interface Means {
  /** One cell, `1` or `0`. */
  readonly empty: string;
  /** One cell: what `clear` has to know of the beginning. */
  readonly kept: string;
  clear(kept: string): string;
}

const PG_MEANS: Means = { empty: PG_EMPTY, kept: PG_KEPT, clear: pgClear };
const MEANS: Readonly<Record<string, Means>> = {
  pg: PG_MEANS,
  dbb: { empty: DBB_EMPTY, kept: DBB_NAME, clear: dbbClear },
};

/**
 * @param name of the source for trials
 * @param of whose migrations are to be tried
 * @throws ProjectFailure where it is not there, is of another kind, or holds anything
 */
export async function openScratch(server: ServerClient, name: string, of: SqlSource): Promise<Scratch> {
  const found = (await serverSources(server)).find((source) => source.name === name);
  if (found === undefined) throw failure('no-source', `the service has no source "${name}", which --scratch names`);
  if (found.name === of.name) throw failure('scratch', `--scratch is to name another source than ${of.name}: one with an empty database`);
  if (found.kind !== of.kind)
    throw failure('scratch', `the source ${name} of --scratch is of the kind "${found.kind}", and ${of.name} of "${of.kind}"`);
  const [means, lines] = [MEANS[found.kind], schemaLines(found.kind)];
  if (means === undefined || lines === undefined)
    throw failure('not-supported', `migrations of sources of the kind "${found.kind}" are not tried in a database of their own`);
  const cell = async (sql: string): Promise<string> => (await server.sql(found, sql, { read_only: true })).rows[1]?.[0] ?? '';
  if ((await cell(means.empty)) !== '1')
    throw failure(
      'scratch',
      `the database of the source ${name} holds something: --scratch is to name one with an empty database, whose content is dropped`,
    );
  const kept = await cell(means.kept);
  return {
    async run({ sql, inTransaction }) {
      const text = found.kind === 'dbb' ? terminated(sql) : sql;
      if (text.trim() === '') return;
      try {
        await server.sql(found, text, { check_metadata_consistency: false, ...(inTransaction ? {} : { no_transaction: true }) });
      } catch (thrown) {
        const said = thrown instanceof ServerError ? thrown.databaseError?.message : undefined;
        throw said === undefined ? thrown : failure((thrown as ServerError).code, said);
      }
    },
    lines: async () => (await server.sql(found, lines, { read_only: true })).rows.slice(1).map(([line]) => String(line)),
    async clear() {
      try {
        await server.sql(found, means.clear(kept), { check_metadata_consistency: false, no_transaction: true });
      } catch (thrown) {
        if (!(thrown instanceof ProjectFailure)) throw thrown;
        throw failure('scratch', `what the trial has made in the source ${name} could not be taken away: ${thrown.message}`);
      }
    },
  };
}
