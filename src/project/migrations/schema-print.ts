/**
 * Whether the down of a migration undoes its up, tried in one transaction of the source that is rolled back: the schema is printed by
 * the database before and after each step.
 */
import { isJsonArray, isJsonObject, parseJson } from '../../util/json.ts';
import { failure } from '../failure.ts';
import { ServerError, type ServerClient, type SqlSource } from '../server-client.ts';
import { pgBook, refusalOf } from './book.ts';
import { schemaLines } from './schema-lines.ts';

const OURS = schemaLines('pg') as string;

const FAILED = 'svc: verified ';

/** Lines of a schema that another one does not have, and the other way round. */
export interface Difference {
  readonly left: readonly string[];
  readonly lost: readonly string[];
}

export interface Verified {
  /** undefined: it is undone. */
  readonly differences: Difference | undefined;
  /** Up again gives another schema than the first time. */
  readonly second: Difference | undefined;
}

/** undefined: they are the same. */
export function differenceBetween(before: readonly string[], after: readonly string[]): Difference | undefined {
  const [one, other] = [new Set(before), new Set(after)];
  const [left, lost] = [after.filter((line) => !one.has(line)), before.filter((line) => !other.has(line))];
  return left.length + lost.length === 0 ? undefined : { left: left.slice(0, MOST_LINES), lost: lost.slice(0, MOST_LINES) };
}

/** Of a difference, each way. */
const MOST_LINES = 20;

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
    `json_build_object('left', (select coalesce(json_agg(line), '[]') from (select line from ${b} except select line from ${a} order by 1 limit ${MOST_LINES}) x), 'lost', (select coalesce(json_agg(line), '[]') from (select line from ${a} except select line from ${b} order by 1 limit ${MOST_LINES}) x))`;
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
