import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { testDatabase } from '../../../../test/support/postgres.ts';
import { capturedTrigger, INSERT } from '../../../../test/support/event-order.ts';
import { WAIT } from '../../../../test/support/wait.ts';
import type { Source } from '../../../backend/backend.ts';
import { readCaptureLabel } from '../../../backend/capture-label.ts';
import type { Captures, InstallOptions } from '../../../backend/captures.ts';
import { type CatalogTable, nameKey } from '../../../catalog/catalog.ts';
import type { JsonObject } from '../../../util/json.ts';
import { ROOT } from '../../../util/path.ts';
import { postgresql } from '../index.ts';
import { FUNCTION_FORMAT } from './functions.ts';
import { EVENT_CATALOG_LOCK } from './migrations.ts';

const ITEM = { schema: 'public', name: 'item' };

interface Database {
  readonly source: Source;
  readonly captures: Captures;
  /** Another session. */
  readonly other: pg.Client;
  /** Reads the table `item` as it is. */
  readTable(): Promise<CatalogTable>;
}

/** Creates a database with a table `item`. */
async function databaseWithItems(): Promise<Database> {
  const { url, drop } = await testDatabase();
  const configuration = postgresql.configuration.decode({ connection_info: { database_url: url } }, ROOT);
  const source = await postgresql.connect(configuration, {
    sourceName: 'test',
    environment: {},
    usePreparedStatements: true,
    maxConnections: 4,
  });
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  onTestFinished(async () => {
    await other.end();
    await source.close();
    await drop();
  });
  await source.runSql('create table item (id int primary key)', {});
  return {
    source,
    captures: source.captures as Captures,
    other,
    readTable: async () => (await source.introspect({ tables: [ITEM], functions: [] })).tables.get(nameKey(ITEM)) as CatalogTable,
  };
}

test('stops waiting for concurrent changes of triggers after the lock timeout', async () => {
  const { captures, other, readTable } = await databaseWithItems();
  const table = await readTable();
  const options = { owner: 'test', lockMs: 1000 };
  expect(await captures.install([capturedTrigger(table, 't', INSERT)], { ...options, version: 1 })).toEqual([]);
  await other.query(`begin; select pg_advisory_xact_lock(${EVENT_CATALOG_LOCK})`);
  // Without the timeout, the deadline of the service would cancel both after a minute.
  const cause = { message: expect.stringContaining('lock timeout') };
  await expect(captures.retain([], { ...options, settled: 1, removed: ['t'] })).rejects.toMatchObject({ cause });
  expect(await captures.install([capturedTrigger(table, 'u', INSERT)], { ...options, version: 2 })).toMatchObject([
    { name: 'u', error: { message: expect.stringContaining('lock timeout') } },
  ]);
});

test('lets another instance change its tables while it waits for it', async () => {
  const { captures, other, readTable } = await databaseWithItems();
  const table = await readTable();
  const trigger = capturedTrigger(table, 't', INSERT);
  const options = { owner: 'test', version: 1 };
  expect(await captures.install([trigger], options)).toEqual([]);
  await other.query('update svc_catalog.svc_source_catalog_version set version = 1');
  await other.query('alter table svc_catalog.svc_event_log_cleanups drop column started_at');
  await other.query(`begin; select pg_advisory_xact_lock(${EVENT_CATALOG_LOCK})`);
  const installing = captures.install([trigger], options);
  const waiting = `select count(*)::int as count from pg_locks where locktype = 'advisory' and not granted
    and database = (select oid from pg_database where datname = current_database())`;
  await expect.poll(async () => (await other.query(waiting)).rows[0].count, WAIT).toBe(1);
  await other.query(`set local lock_timeout = '5s'`);
  await other.query('alter table svc_catalog.svc_source_catalog_version add column another int');
  await other.query('commit');
  expect(await installing).toEqual([]);
});

/** Puts the text of a later release into the function of the trigger `t`. */
async function upgradeFunction({ other }: Database): Promise<void> {
  const { rows } = await other.query(`${FIND_FUNCTION}, obj_description(p.oid, 'pg_proc') as label from pg_proc p where ${OF_T}`);
  const { text, label } = rows[0];
  await other.query(`create or replace function ${NAME}() returns trigger language plpgsql security definer as $text$--newer${text}$text$`);
  await other.query(
    `comment on function ${NAME}() is '${JSON.stringify({ ...JSON.parse(label), format: FUNCTION_FORMAT + 1, other: 1 })}'`,
  );
}

const NAME = 'svc_catalog."notify_svc_t_INSERT"';
const OF_T = `p.proname = 'notify_svc_t_INSERT'`;
const FIND_FUNCTION = 'select p.prosrc as text';

async function hasNewerText({ other }: Database): Promise<boolean> {
  const { rows } = await other.query(`${FIND_FUNCTION} from pg_proc p where ${OF_T}`);
  return rows[0].text.startsWith('--newer');
}

async function formatOf({ other }: Database): Promise<number | undefined> {
  const { rows } = await other.query(`select obj_description(p.oid, 'pg_proc') as label from pg_proc p where ${OF_T}`);
  return readCaptureLabel(rows[0].label).format;
}

test('keeps the function of a newer service until its definition or the columns of its table change', async () => {
  const database = await databaseWithItems();
  const { captures, source, other, readTable } = database;
  const install = async (definition: JsonObject, more: Partial<InstallOptions> = {}): Promise<void> => {
    const trigger = capturedTrigger(await readTable(), 't', definition);
    expect(await captures.install([trigger], { owner: 'test', version: 1, ...more })).toEqual([]);
  };
  await install(INSERT);
  expect(await formatOf(database)).toBe(FUNCTION_FORMAT);
  await upgradeFunction(database);
  await install(INSERT);
  await install(INSERT, { settled: 1, hasFreshColumns: true });
  await install(INSERT, { version: 2, added: new Set(['notify_svc_t_INSERT']), draft: 'd' });
  await install(INSERT, { reinstall: true });
  expect(await hasNewerText(database)).toBe(true);
  expect(await formatOf(database)).toBe(FUNCTION_FORMAT + 1);
  await other.query('insert into item values (1)');
  expect((await other.query('select payload from svc_catalog.event_log')).rows).toMatchObject([{ payload: { op: 'INSERT' } }]);

  await source.runSql('alter table item add column kind text', {});
  await install(INSERT, { settled: 1, hasFreshColumns: true });
  expect(await hasNewerText(database)).toBe(false);
  await upgradeFunction(database);
  await install({ insert: { columns: '*', payload: ['id'] } });
  expect(await hasNewerText(database)).toBe(false);
  expect(await formatOf(database)).toBe(FUNCTION_FORMAT);
});

test('keeps the function of a newer service after a change of the table that does not change its text', async () => {
  const database = await databaseWithItems();
  const { captures, source, readTable } = database;
  const install = async (): Promise<void> => {
    const trigger = capturedTrigger(await readTable(), 't', { insert: { columns: '*', payload: ['id'] } });
    expect(await captures.install([trigger], { owner: 'test', version: 1, settled: 1, hasFreshColumns: true })).toEqual([]);
  };
  await install();
  await source.runSql('alter table item add column kind text', {});
  // Only the label changes.
  await install();
  await upgradeFunction(database);
  await install();
  expect(await hasNewerText(database)).toBe(true);
});

test('uses the tables of events of a newer service, unless they require it', async () => {
  const { captures, source, other, readTable } = await databaseWithItems();
  const install = async (name: string): Promise<unknown> =>
    captures.install([capturedTrigger(await readTable(), name, INSERT)], { owner: 'test', version: 1 });
  await install('t');
  const versions = 'select version, oldest_reader from svc_catalog.svc_source_catalog_version';
  const own = (await other.query(versions)).rows[0];
  expect(own).toEqual({ version: 2, oldest_reader: 2 });
  await source.runSql(
    'alter table svc_catalog.event_log add column note text; update svc_catalog.svc_source_catalog_version set version = 3',
    {},
  );
  expect(await install('u')).toEqual([]);
  await other.query('insert into item values (1)');
  expect((await other.query('select count(*)::int as events from svc_catalog.event_log')).rows).toEqual([{ events: 2 }]);
  expect((await other.query(versions)).rows).toEqual([{ version: 3, oldest_reader: 2 }]);

  await source.runSql('update svc_catalog.svc_source_catalog_version set oldest_reader = 3', {});
  await expect(install('v')).rejects.toMatchObject({
    code: 'not-supported',
    message: expect.stringContaining(
      'have version 3, which requires a service that supports version 3, and this one supports versions up to 2',
    ),
  });
});
