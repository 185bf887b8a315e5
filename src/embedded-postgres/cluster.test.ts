import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { DEEP } from '../../test/support/deep.ts';
import { type Cluster, type ClusterOptions, startCluster } from './cluster.ts';
import { InUseError } from './owner-lock.ts';
import { hasCluster } from './place.ts';
import { processStart } from './process.ts';
import { WAIT } from '../../test/support/wait.ts';

const isRoot = process.getuid?.() === 0;
const FAST = { fsync: 'off' };

const folders: string[] = [];
const clusters: Cluster[] = [];
const children: ChildProcess[] = [];

function newFolder(mode = 0o755): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-embedded-'));
  chmodSync(folder, mode);
  folders.push(folder);
  return join(folder, 'postgres');
}

async function start(dataDirectory: string, more: Partial<ClusterOptions> = {}): Promise<Cluster> {
  const cluster = await startCluster({ dataDirectory, settings: FAST, ...more });
  clusters.push(cluster);
  folders.push(cluster.folder);
  return cluster;
}

async function query<R>(cluster: Cluster, sql: string): Promise<R[]> {
  const client = new pg.Client(cluster.connectionConfig());
  await client.connect();
  try {
    return (await client.query(sql)).rows as R[];
  } finally {
    await client.end();
  }
}

/** Starts another process that starts a cluster, prints one JSON line and keeps running. */
async function startElsewhere(
  dataDirectory: string,
  environment: NodeJS.ProcessEnv,
): Promise<{ child: ChildProcess; pid: number; url: string }> {
  const script = `
    const { startCluster } = await import(${JSON.stringify(new URL('./cluster.ts', import.meta.url).href)});
    const cluster = await startCluster({ dataDirectory: ${JSON.stringify(dataDirectory)}, settings: { fsync: 'off' } });
    console.log(JSON.stringify({ pid: cluster.pid, url: cluster.url(), folder: cluster.folder }));
    process.on('SIGTERM', () => cluster.stop().then(() => process.exit(0)));
    setInterval(() => {}, 1000);`;
  const tsx = fileURLToPath(import.meta.resolve('tsx'));
  const child = spawn(process.execPath, ['--import', tsx, '--input-type=module', '-e', script], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  let output = '';
  for await (const chunk of child.stdout) {
    output += String(chunk);
    if (output.includes('\n')) break;
  }
  return { child, ...(JSON.parse(output) as { pid: number; url: string }) };
}

const ended = (child: ChildProcess): Promise<void> => new Promise((resolve) => child.once('exit', () => resolve()));

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const cluster of clusters.splice(0)) await cluster.stop();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

// Each test creates a cluster, which takes more than a second: a short run covers start, stop and ownership.
describe('startCluster', () => {
  it('creates a UTF8 cluster with a fixed locale, and keeps its data and port', async () => {
    const folder = newFolder();
    const first = await start(folder);
    expect(first.created).toBe(true);
    expect(
      await query(
        first,
        `select pg_encoding_to_char(encoding) as encoding, datlocprovider, datlocale, current_setting('TimeZone') as zone
        from pg_database where datname = 'postgres'`,
      ),
    ).toEqual([{ encoding: 'UTF8', datlocprovider: 'b', datlocale: 'C.UTF-8', zone: 'UTC' }]);
    await query(first, `create table kept as select upper('straße ä') as word`);
    await first.stop();
    expect(processStart(first.pid)).toBeNull();

    const second = await start(folder);
    expect(second).toMatchObject({ created: false, port: first.port });
    expect(await query(second, 'select word from kept')).toEqual([{ word: 'STRASSE Ä'.replace('SS', 'ß') }]);
  });

  it.runIf(DEEP)('rejects connections without the password', async () => {
    const cluster = await start(newFolder());
    const client = new pg.Client({ ...cluster.connectionConfig(), password: 'postgres' });
    await expect(client.connect()).rejects.toThrow('password authentication failed');
    expect(statSync(join(cluster.folder, 'password')).mode & 0o077).toBe(0);
    expect(statSync(join(cluster.folder, 'data')).mode & 0o077).toBe(0);
    expect(readdirSync(cluster.folder)).not.toContain('initial-password');
  });

  it.runIf(DEEP)('runs in its own process group and not as root', async () => {
    const cluster = await start(newFolder());
    const stat = readFileSync(`/proc/${cluster.pid}/stat`, 'utf8');
    expect(Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2])).toBe(cluster.pid);
    expect(statSync(`/proc/${cluster.pid}`).uid).not.toBe(0);
  });

  it('rejects a second start while the first service is running', async () => {
    const folder = newFolder();
    const { pid, child } = await startElsewhere(folder, process.env);
    await expect(startCluster({ dataDirectory: folder })).rejects.toThrow(InUseError);
    await expect(startCluster({ dataDirectory: folder })).rejects.toThrow(`is in use by another service, process ${child.pid}`);
    expect(processStart(pid)).not.toBeNull();
    child.kill('SIGTERM');
    await ended(child);
    // Its new parent process may take a moment to reap it.
    await expect.poll(() => processStart(pid), WAIT).toBeNull();
    await start(folder);
  });

  it.runIf(DEEP)('stops the database of a killed service, and keeps its data', async () => {
    const folder = newFolder();
    const { child, pid, url } = await startElsewhere(folder, process.env);
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    await client.connect();
    await client.query('create table kept as select 7 as seven');
    child.kill('SIGKILL');
    await ended(child);
    expect(processStart(pid)).not.toBeNull();

    const messages: string[] = [];
    const cluster = await start(folder, { log: (message) => messages.push(message) });
    expect(processStart(pid)).toBeNull();
    expect(messages.join()).toContain(`process ${pid}`);
    expect(await query(cluster, 'select seven from kept')).toEqual([{ seven: 7 }]);
  });

  it('restarts a crashed database at the same address until it is stopped', async () => {
    const messages: string[] = [];
    const cluster = await start(newFolder(), { log: (message) => messages.push(message) });
    const { pid } = cluster;
    const url = cluster.url();
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => messages.at(-1), WAIT).toBe('the embedded PostgreSQL is running again');
    expect(messages[0]).toMatch(/ended unexpectedly \(SIGKILL\) and is being restarted/);
    expect(cluster.pid).not.toBe(pid);
    expect(cluster.url()).toBe(url);
    expect(await query(cluster, 'select 1 as one')).toEqual([{ one: 1 }]);

    const second = cluster.pid;
    process.kill(second, 'SIGKILL');
    await expect.poll(() => processStart(second), WAIT).toBeNull();
    await cluster.stop();
    expect(processStart(cluster.pid)).toBeNull();
  });

  it.runIf(DEEP)('starts despite files of ended processes', async () => {
    const folder = newFolder();
    const first = await start(folder);
    const dataFolder = join(first.folder, 'data');
    await first.stop();
    // Ids of unrelated running processes.
    writeFileSync(join(first.folder, 'owner.lock'), JSON.stringify({ pid: process.ppid, started: 'another time' }));
    writeFileSync(join(dataFolder, 'postmaster.pid'), `${process.ppid}\n${dataFolder}\n`);
    await start(folder);
  });

  it.runIf(DEEP)('repeats an interrupted first start', async () => {
    const folder = newFolder();
    mkdirSync(join(folder, 'data.new'), { recursive: true });
    writeFileSync(join(folder, 'data.new', 'PG_VERSION'), '18\n');
    writeFileSync(join(folder, 'initial-password'), 'of the first try\n');
    expect((await start(folder)).created).toBe(true);
  });

  it.runIf(DEEP)('works without environment variables', async () => {
    const { url } = await startElsewhere(newFolder(), {});
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    expect((await client.query('show server_encoding')).rows).toEqual([{ server_encoding: 'UTF8' }]);
    await client.end();
  });

  it.runIf(DEEP)('works below a folder that only its user can enter', async () => {
    const folder = newFolder(0o700);
    expect(hasCluster(folder)).toBe(false);
    const cluster = await start(folder);
    expect(hasCluster(folder)).toBe(true);
    expect(cluster.folder === folder).toBe(!isRoot);
    expect(await query(cluster, 'select 1 as one')).toEqual([{ one: 1 }]);
    await cluster.stop();
    expect((await start(folder)).created).toBe(false);
  });

  it.runIf(isRoot && DEEP)('works without a user postgres, and continues as the owner of the data', async () => {
    const folder = newFolder();
    const first = await start(folder, { accountNames: ['no-such-user', 'nobody'] });
    const { uid } = statSync(`/proc/${first.pid}`);
    await first.stop();
    const second = await start(folder);
    expect(statSync(`/proc/${second.pid}`).uid).toBe(uid);
    expect(second.created).toBe(false);
  });

  it.runIf(isRoot)('reports that there is no user to run as', async () => {
    await expect(startCluster({ dataDirectory: newFolder(), accountNames: ['no-such-user'] })).rejects.toThrow(
      'PostgreSQL does not run as root, and there is no user no-such-user to run it as',
    );
  });

  it.runIf(DEEP)('reports data of another PostgreSQL version', async () => {
    const folder = newFolder();
    const cluster = await start(folder);
    await cluster.stop();
    writeFileSync(join(cluster.folder, 'data', 'PG_VERSION'), '12\n');
    await expect(startCluster({ dataDirectory: folder })).rejects.toThrow('was written by PostgreSQL 12');
    expect(existsSync(join(cluster.folder, 'owner.lock'))).toBe(false);
  });

  it.runIf(DEEP)('reports why the server did not start', async () => {
    await expect(startCluster({ dataDirectory: newFolder(), settings: { shared_buffers: 'plenty' } })).rejects.toThrow(
      /did not start: .*invalid value for parameter "shared_buffers"/s,
    );
  });
});
