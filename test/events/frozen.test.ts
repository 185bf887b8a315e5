/** Instances whose processes are stopped while they fetch events or install triggers: the server ends their locks. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Source } from '../../src/backend/backend.ts';
import type { Captures } from '../../src/backend/captures.ts';
import type { TriggerQueueRequest } from '../../src/backend/event-store.ts';
import { type CatalogTable, nameKey, type QualifiedName } from '../../src/catalog/catalog.ts';
import { connect } from '../../src/databases/mariadb/connect.ts';
import { postgresql } from '../../src/databases/postgresql/index.ts';
import { ROOT } from '../../src/util/path.ts';
import { B, capturedTrigger, INSERT } from '../support/event-order.ts';
import { hasMariadb, startMariadb } from '../support/mariadb.ts';
import { testDatabase } from '../support/postgres.ts';

const SETTINGS = { sourceName: 'test', environment: {}, usePreparedStatements: true, maxConnections: 4 };
const BOUNDED: TriggerQueueRequest = { name: 't', limit: 100, overall: 1 };
const LIMIT = { timeout: 60_000, interval: 200 };
const compiled = (path: string): string => new URL(`../../dist/databases/${path}`, import.meta.url).href;

/** A process that opens a `source` with `opening`, fetches events of the trigger queue and stops where `stop` is called. */
function stoppedInstance(opening: string, queue: TriggerQueueRequest): Promise<void> {
  const request = JSON.stringify({ lease: { holder: 'stopped', seconds: 2 }, limit: 100, queues: [queue] });
  return stoppedProcess(opening, `await source.captures.events.fetch(${request});`);
}

/** A process that installs an event trigger `u` on the table and stops in the same way. */
function stoppedInstaller(opening: string, table: CatalogTable): Promise<void> {
  const trigger = JSON.stringify(capturedTrigger(table, 'u', INSERT));
  return stoppedProcess(opening, `console.error(await source.captures.install([${trigger}], { owner: 'test', version: 2 }));`);
}

async function stoppedProcess(opening: string, work: string): Promise<void> {
  const code = `
    import { writeSync } from 'node:fs';
    const stop = () => { writeSync(1, 'stopped'); process.kill(process.pid, 'SIGSTOP'); };
    ${opening}
    ${work}
    process.exit(1);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { cwd: tmpdir(), stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [first] = (await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])) as [unknown];
  expect(String(first)).toBe('stopped');
}

/** Stops after the last statement of a transaction. */
const IN_TRANSACTION = `
  const original = source.transaction.bind(source);
  source.transaction = (how, run) => original(how, async (...given) => { const result = await run(...given); stop(); return result; });`;

async function tableOf(source: Source, name: QualifiedName): Promise<CatalogTable> {
  return (await source.introspect({ tables: [name], functions: [] })).tables.get(nameKey(name)) as CatalogTable;
}

async function installedOn(source: Source, name: QualifiedName): Promise<Captures> {
  const table = await tableOf(source, name);
  const captures = source.captures as Captures;
  expect(await captures.install([capturedTrigger(table, 't', INSERT)], { owner: 'test', version: 1 })).toEqual([]);
  return captures;
}

async function taken(captures: Captures, queue: TriggerQueueRequest): Promise<number> {
  return (await captures.events.fetch({ lease: B, limit: 100, queues: [queue] })).length;
}

describe('a stopped instance on PostgreSQL', () => {
  const opening = (url: string): string => `
    import { postgresql } from '${compiled('postgresql/index.js')}';
    const source = await postgresql.connect(postgresql.configuration.decode({ connection_info: { database_url: '${url}' } }, { parent: null }), ${JSON.stringify(SETTINGS)});`;

  const ITEM = { schema: 'public', name: 'item' };

  async function started(row: string): Promise<{ readonly url: string; readonly source: Source; readonly captures: Captures }> {
    const { url, drop } = await testDatabase();
    const source = await postgresql.connect(postgresql.configuration.decode({ connection_info: { database_url: url } }, ROOT), SETTINGS);
    onTestFinished(async () => {
      await source.close();
      await drop();
    });
    await source.runSql('create table item (id int primary key, kind text)', {});
    const captures = await installedOn(source, ITEM);
    await source.runSql(`insert into item select i, ${row} from generate_series(1, 40) i`, {});
    return { url, source, captures };
  }

  it('releases a bounded trigger queue when its lease would expire', async () => {
    const { url, captures } = await started(`'k'`);
    await stoppedInstance(`${opening(url)}${IN_TRANSACTION}`, BOUNDED);
    expect(await taken(captures, BOUNDED)).toBe(0);
    await expect.poll(() => taken(captures, BOUNDED), LIMIT).toBe(1);
  });

  it('blocks neither writers of a table nor other trigger changes when it stops while it installs a trigger', async () => {
    const { url, source, captures } = await started(`'k'`);
    const table = await tableOf(source, ITEM);
    await stoppedInstaller(`${opening(url)}${IN_TRANSACTION}`, table);
    await source.runSql(`insert into item values (100, 'k')`, { deadline: Date.now() + 30_000 });
    expect(await captures.install([capturedTrigger(table, 'v', INSERT)], { owner: 'test', version: 2 })).toEqual([]);
  });

  it('releases events that it does not read', async () => {
    const { url, source, captures } = await started(`repeat('k', 300000)`);
    const queue = { name: 't', limit: 100 };
    // Stops in the turn after the one that sends the statement, which has the name of the holder.
    const sending = `
      const { Socket } = await import('node:net');
      const { write } = Socket.prototype;
      Socket.prototype.write = function (piece, ...rest) {
        if (Buffer.from(piece).includes('stopped')) setImmediate(stop);
        return write.call(this, piece, ...rest);
      };`;
    await stoppedInstance(`${opening(url)}${sending}`, queue);
    // The answer has 12 MB, so the server waits for its client.
    const waiting = `select count(*) from pg_stat_activity where datname = current_database() and wait_event = 'ClientWrite'`;
    await expect.poll(async () => (await source.runSql(waiting, {})).rows, LIMIT).toEqual([['1']]);
    expect(await taken(captures, queue)).toBeLessThan(40);
    await expect.poll(() => captures.count({ state: 'pending' }), LIMIT).toBe(40);
    let all = 0;
    await expect.poll(async () => (all += await taken(captures, queue)), LIMIT).toBe(40);
  });
});

describe.skipIf(!hasMariadb())('a stopped instance on MariaDB', () => {
  async function started(): Promise<{ readonly opening: string; readonly source: Source; readonly captures: Captures }> {
    const server = await startMariadb();
    const configuration = { connectionString: { kind: 'template', text: server.url('shop') } as const, pool: undefined, ssl: undefined };
    await server.run('create database shop; create table shop.item (id int primary key, kind text)');
    const source = await connect(configuration, SETTINGS);
    onTestFinished(async () => {
      await source.close();
      await server.stop();
    });
    const captures = await installedOn(source, ITEM);
    await source.runSql("insert into item select seq, 'k' from seq_1_to_40", {});
    const opening = `
      import { connect } from '${compiled('mariadb/connect.js')}';
      const source = await connect(${JSON.stringify(configuration)}, ${JSON.stringify(SETTINGS)});`;
    return { opening, source, captures };
  }
  const ITEM = { schema: '', name: 'item' };

  it('releases a bounded trigger queue when the server has ended its transaction', async () => {
    const { opening, captures } = await started();
    // Stops before it sends the statement, a packet of the type 3.
    const committing = `
      const { Socket } = await import('node:net');
      const { write } = Socket.prototype;
      Socket.prototype.write = function (piece, ...rest) {
        if (Buffer.from(piece).includes('\\u0003commit')) stop();
        return write.call(this, piece, ...rest);
      };`;
    await stoppedInstance(`${opening}${committing}`, BOUNDED);
    expect(await taken(captures, BOUNDED)).toBe(0);
    await expect.poll(() => taken(captures, BOUNDED), LIMIT).toBe(1);
  });

  it('blocks other trigger changes only until its idle timeout when it stops while it installs a trigger', async () => {
    const { opening, source, captures } = await started();
    const table = await tableOf(source, ITEM);
    const inSession = `
      const original = source.session.bind(source);
      source.session = (run) => original(async (connection) => { const result = await run(connection); stop(); return result; });`;
    await stoppedInstaller(`${opening}${inSession}`, table);
    await source.runSql(`insert into item values (100, 'k')`, { deadline: Date.now() + 30_000 });
    const install = () => captures.install([capturedTrigger(table, 'v', INSERT)], { owner: 'test', version: 2 });
    await expect.poll(install, LIMIT).toEqual([]);
  });
});
