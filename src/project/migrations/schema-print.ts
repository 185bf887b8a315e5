/**
 * Whether the down of a migration undoes its up, tried in one transaction of the source that is rolled back: the schema is printed by
 * the database before and after each step.
 */
import { isJsonArray, isJsonObject, parseJson } from '../../util/json.ts';
import { failure } from '../failure.ts';
import { ServerError, type ServerClient, type SqlSource } from '../server-client.ts';
import { pgBook, refusalOf } from './book.ts';

/** Everything of the database's schemas that a migration may define, a line each. */
const PRINT = `select 'table ' || c.oid::regclass::text || ' ' || c.relkind::text || ' ' || c.relrowsecurity::text as line, n.nspname from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
  union all select 'column ' || c.oid::regclass::text || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || ' ' || a.attnotnull::text || ' ' || coalesce(pg_get_expr(d.adbin, d.adrelid), ''), n.nspname from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum where a.attnum > 0 and not a.attisdropped and c.relkind in ('r', 'p', 'v', 'm', 'f')
  union all select 'constraint ' || coalesce(nullif(k.conrelid, 0)::regclass::text, '') || ' ' || k.conname || ' ' || pg_get_constraintdef(k.oid), n.nspname from pg_constraint k join pg_namespace n on n.oid = k.connamespace
  union all select 'index ' || pg_get_indexdef(i.indexrelid), n.nspname from pg_index i join pg_class c on c.oid = i.indexrelid join pg_namespace n on n.oid = c.relnamespace
  union all select 'view ' || c.oid::regclass::text || ' ' || md5(pg_get_viewdef(c.oid)), n.nspname from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind in ('v', 'm')
  union all select 'function ' || p.oid::regprocedure::text || ' ' || md5(pg_get_functiondef(p.oid)), n.nspname from pg_proc p join pg_namespace n on n.oid = p.pronamespace where p.prokind in ('f', 'p') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
  union all select 'trigger ' || t.tgrelid::regclass::text || ' ' || pg_get_triggerdef(t.oid), n.nspname from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace where not t.tgisinternal
  union all select 'policy ' || p.polrelid::regclass::text || ' ' || p.polname || ' ' || p.polcmd::text || ' ' || coalesce(pg_get_expr(p.polqual, p.polrelid), '') || ' ' || coalesce(pg_get_expr(p.polwithcheck, p.polrelid), ''), n.nspname from pg_policy p join pg_class c on c.oid = p.polrelid join pg_namespace n on n.oid = c.relnamespace
  union all select 'enum ' || t.oid::regtype::text || ' ' || string_agg(e.enumlabel, ',' order by e.enumsortorder), n.nspname from pg_enum e join pg_type t on t.oid = e.enumtypid join pg_namespace n on n.oid = t.typnamespace group by t.oid, n.nspname
  union all select 'extension ' || e.extname, '' from pg_extension e
  union all select 'schema ' || n.nspname, n.nspname from pg_namespace n`;

/** One column: a line for each of those that are not the system's. */
export const OURS = `select distinct line from (${PRINT}) as printed where nspname !~ '^pg_' and nspname not in ('information_schema', 'svc_catalog') and line !~ 'svc_verify'`;

const FAILED = 'svc: verified ';

export interface Verified {
  /** undefined: it is undone. */
  readonly differences: { readonly left: readonly string[]; readonly lost: readonly string[] } | undefined;
  /** Up again gives another schema than the first time. */
  readonly second: { readonly left: readonly string[]; readonly lost: readonly string[] } | undefined;
}

interface Difference {
  readonly left: readonly string[];
  readonly lost: readonly string[];
}

/**
 * Tries up, down, up.
 * @param before SQL of the migrations before, run first
 * @throws ProjectFailure when one of them fails
 */
export async function verifyMigration(
  server: ServerClient,
  source: SqlSource,
  before: string,
  up: string,
  down: string,
): Promise<Verified> {
  const print = (name: string): string =>
    `set local search_path = pg_catalog, pg_temp; create temp table ${name} on commit drop as ${OURS}; reset search_path;\n`;
  const compare = (a: string, b: string): string =>
    `json_build_object('left', (select coalesce(json_agg(line), '[]') from (select line from ${b} except select line from ${a} order by 1 limit 20) x), 'lost', (select coalesce(json_agg(line), '[]') from (select line from ${a} except select line from ${b} order by 1 limit 20) x))`;
  const names = ['svc_verify_0', 'svc_verify_1', 'svc_verify_2', 'svc_verify_3'].map((name) => `pg_temp.${name}`) as [
    string,
    string,
    string,
    string,
  ];
  const sql = [
    pgBook.begin({}),
    `${before}\n;\n`,
    print('svc_verify_0'),
    `${up}\n;\n`,
    print('svc_verify_1'),
    `${down}\n;\n`,
    print('svc_verify_2'),
    `${up}\n;\n`,
    print('svc_verify_3'),
    `do $svc_verify$ begin raise exception '${FAILED}%', json_build_array(${compare(names[0], names[2])}, ${compare(names[1], names[3])}); end $svc_verify$;`,
  ].join('');
  try {
    await server.sql(source, sql, { check_metadata_consistency: false });
  } catch (thrown) {
    if (!(thrown instanceof ServerError)) throw thrown;
    const message = thrown.databaseError?.message ?? '';
    if (refusalOf(message) === 'locked') throw failure('locked', `somebody else migrates the source ${source.name}`);
    if (!message.startsWith(FAILED)) throw failure(thrown.code, message === '' ? thrown.message : message);
    const list = parseJson(message.slice(FAILED.length));
    const [undone, second] = (isJsonArray(list) ? list : []).map((each) => differenceOf(each));
    return { differences: undone, second };
  }
  throw failure('unexpected', 'the transaction of the trial was not rolled back');
}

/**
 * The schema as it would be, told by a transaction that is rolled back.
 * @param sql what is run first
 * @throws ProjectFailure when that fails
 */
export async function schemaAfter(server: ServerClient, source: SqlSource, sql: string): Promise<readonly string[]> {
  const text = `${pgBook.begin({})}${sql}\n;\nset local search_path = pg_catalog, pg_temp;
do $svc_verify$ begin raise exception '${FAILED}%', (select coalesce(json_agg(line order by line), '[]') from (${OURS}) as printed); end $svc_verify$;`;
  try {
    await server.sql(source, text, { check_metadata_consistency: false });
  } catch (thrown) {
    if (!(thrown instanceof ServerError)) throw thrown;
    const message = thrown.databaseError?.message ?? '';
    if (refusalOf(message) === 'locked') throw failure('locked', `somebody else migrates the source ${source.name}`);
    if (!message.startsWith(FAILED)) throw failure(thrown.code, message === '' ? thrown.message : message);
    const lines = parseJson(message.slice(FAILED.length));
    return isJsonArray(lines) ? lines.map(String) : [];
  }
  throw failure('unexpected', 'the transaction of the trial was not rolled back');
}

function differenceOf(json: unknown): Difference | undefined {
  const object = isJsonObject(json as never) ? (json as Readonly<Record<string, readonly string[]>>) : {};
  const [left, lost] = [object['left'] ?? [], object['lost'] ?? []];
  return left.length + lost.length === 0 ? undefined : { left, lost };
}
