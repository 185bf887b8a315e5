/** Sources on the database of a test file, closed after each test. */
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import type { Backend, Polls, Source, Writes } from '../../src/backend/backend.ts';
import type { PostgresqlConfiguration } from '../../src/databases/postgresql/configuration.ts';
import { postgresql } from '../../src/databases/postgresql/index.ts';
import type { SvcError } from '../../src/errors/svc-error.ts';
import { textOfBytes } from '../../src/util/bytes.ts';
import type { Json } from '../../src/util/json.ts';
import { ROOT } from '../../src/util/path.ts';
import { testDatabase, type TestDatabase } from './postgres.ts';
import type { JsonRow, Statement } from '../../src/backend/connection.ts';

let database: TestDatabase;
const opened: Source[] = [];

/** Creates the database before the first test of a file and drops it after the last. */
export function usePgSources(): void {
  beforeAll(async () => {
    database = await testDatabase();
    const source = await open();
    await source.runSql(
      `create table item (id int primary key, name text not null, parent int constraint item_parent references item (id) deferrable initially deferred);
       insert into item select i, 'item ' || i from generate_series(1, 100) i;
       create schema "ext ra"; create function "ext ra".twice(i int) returns int language sql immutable as 'select 2 * i';`,
      {},
    );
  });

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((source) => source.close()));
  });

  afterAll(() => database.drop());
}

export function databaseUrl(): string {
  return database.url;
}

export interface OpenOptions {
  readonly url?: string;
  readonly info?: Json & object;
  readonly document?: Json & object;
  readonly max?: number;
  readonly prepare?: boolean;
  readonly events?: string[];
  readonly requestTimeoutMs?: number;
  /** PostgreSQL, or a kind based on it. */
  readonly backend?: Backend<PostgresqlConfiguration, Source & Writes & Polls>;
}

export async function open(options: OpenOptions = {}): Promise<Source & Writes & Polls> {
  const { url = database.url, info, document, max = 10, prepare = true, events, requestTimeoutMs = 0, backend = postgresql } = options;
  const configuration = postgresql.configuration.decode({ connection_info: { database_url: url, ...info } as Json, ...document }, ROOT);
  const source = await backend.connect(configuration, {
    sourceName: 'test',
    environment: {},
    usePreparedStatements: prepare,
    maxConnections: max,
    requestTimeoutMs,
    onEvent: (event) => events?.push(event.kind),
  });
  opened.push(source);
  return source;
}

export function read(text: string): Statement {
  return { text, parameters: [], repeatable: true, columns: 1 };
}

export function write(text: string): Statement {
  return { ...read(text), repeatable: false };
}

export function texts(row: JsonRow): (string | null)[] {
  return row.map((value) => value && textOfBytes(value));
}

export async function failure(promise: Promise<unknown>): Promise<SvcError> {
  return promise.then(
    () => expect.fail('it did not fail'),
    (error) => error as SvcError,
  );
}

/** Number of sessions of this database that run a statement, except this one. */
export async function active(source: Source): Promise<number> {
  const result = await source.query(
    "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and state = 'active'",
    [],
  );
  return Number(result.rows[0]?.[0]);
}

export const ITEM = read('select row_to_json(r) from (select id, name from item where id = $1::int) r');

/** Runs a statement once, so that its cost is recorded and it may be pipelined. */
export async function warm(source: Source, ...statements: Statement[]): Promise<void> {
  for (const statement of statements) await source.runJson(statement, statement === ITEM ? ['1'] : [], {});
}
