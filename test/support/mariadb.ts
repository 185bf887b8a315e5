/** A MariaDB of a test file's own, where the server is installed. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { freePort } from './free-port.ts';
import { SELF_SIGNED } from './self-signed.ts';

export interface TestMariadb {
  readonly port: number;
  /** A file: the certificate that it shows, which it has signed itself for another name. */
  readonly certificate: string;
  /** Of a database. */
  url(database: string): string;
  /** Several statements in one text, without a database of their own. */
  run(sql: string): Promise<void>;
  /** As a crash does. */
  kill(): Promise<void>;
  /** Again, after it was killed. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

function program(name: string): string | null {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;
}

/** Tests skip themselves without it: `describe.skipIf(!hasMariadb())`; with `SVC_TEST_REQUIRE_MARIADB=1` they fail. */
export function hasMariadb(): boolean {
  const isThere = program('mariadbd') !== null && program('mariadb-install-db') !== null;
  if (!isThere && process.env['SVC_TEST_REQUIRE_MARIADB'] === '1') throw new Error('mariadb-server is not installed');
  if (!isThere) process.stderr.write('mariadb-server is not installed: the tests of MariaDB are skipped\n');
  return isThere;
}

/**
 * Runs a server until its standard input ends, which it does when the process of the test does, however that ends. Unless there is a word
 * in it, the files go too.
 */
const WATCHED = `"$@" & server=$!
read -r word
kill -9 $server
wait $server 2> /dev/null
[ -n "$word" ] || rm -rf "$0"`;

/** The one of this worker, whose files follow one another: each finds it empty. */
let shared: Promise<TestMariadb> | undefined;

/** An empty server. Another test file may have it afterwards: `stop` takes away what is in it. */
export async function startMariadb(): Promise<TestMariadb> {
  shared ??= startOwnMariadb();
  const server = await shared;
  return { ...server, stop: () => dropDatabases(server) };
}

async function dropDatabases({ port, run }: TestMariadb): Promise<void> {
  const connection = await createConnection({ host: '127.0.0.1', port, user: 'root' });
  const texts: string[] = [];
  try {
    const [databases] = await connection.query<RowDataPacket[]>(
      "select schema_name as name from information_schema.schemata where schema_name not in ('mysql', 'information_schema', 'performance_schema', 'sys')",
    );
    for (const { name } of databases) texts.push(`drop database \`${String(name)}\``);
    const [users] = await connection.query<RowDataPacket[]>(
      "select user as name from mysql.user where user not in ('root', 'mariadb.sys', '') and host = '%'",
    );
    for (const { name } of users) texts.push(`drop user \`${String(name)}\`@'%'`);
  } finally {
    await connection.end();
  }
  for (const text of texts) await run(text);
}

/** A server that is the test's alone, to be restarted or killed. @param more options of the server */
export async function startOwnMariadb(more: readonly string[] = []): Promise<TestMariadb> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-mariadb-'));
  const data = join(folder, 'data');
  const owner = userInfo().username;
  execFileSync(
    program('mariadb-install-db') as string,
    [
      '--no-defaults',
      `--datadir=${data}`,
      `--tmpdir=${folder}`,
      '--auth-root-authentication-method=normal',
      '--skip-test-db',
      `--user=${owner}`,
    ],
    { stdio: 'ignore' },
  );
  const port = await freePort();
  const [certificate, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  writeFileSync(certificate, SELF_SIGNED.cert);
  writeFileSync(key, SELF_SIGNED.key);
  const options = [
    '--character-set-server=utf8mb4',
    '--bind-address=127.0.0.1',
    // Nothing of it outlives the test.
    '--innodb-flush-log-at-trx-commit=0',
    '--innodb-flush-method=nosync',
    '--skip-innodb-doublewrite',
    '--debug-no-sync',
    '--sync-frm=0',
    '--skip-log-bin',
    // A server that starts takes away what others have in a folder that they share.
    `--tmpdir=${folder}`,
    '--max-allowed-packet=1M',
    `--ssl-cert=${certificate}`,
    `--ssl-key=${key}`,
    ...more,
  ];
  const settings = { host: '127.0.0.1', port, user: 'root', multipleStatements: true };
  let server: ChildProcess;
  /** @param forGood also its files */
  const end = async (forGood: boolean): Promise<void> => {
    const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()));
    if (server.exitCode === null && server.signalCode === null) {
      server.stdin?.end(forGood ? '' : 'keep\n');
      await ended;
    }
    if (forGood) rmSync(folder, { recursive: true, force: true });
  };
  const start = async (): Promise<void> => {
    server = spawn(
      '/bin/sh',
      [
        ...['-c', WATCHED, folder, program('mariadbd') as string, '--no-defaults', `--user=${owner}`, `--datadir=${data}`],
        ...[`--socket=${join(folder, 's')}`, `--port=${port}`, ...options],
      ],
      { stdio: ['pipe', 'ignore', 'ignore'] },
    );
    for (let attempt = 0; ; attempt++) {
      try {
        await (await createConnection(settings)).end();
        return;
      } catch (error) {
        if (attempt > 1500 || server.exitCode !== null) throw error;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  };
  const kill = (): Promise<void> => end(false);
  const stop = (): Promise<void> => end(true);
  try {
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    port,
    certificate,
    url: (database) => `mariadb://root@127.0.0.1:${port}/${database}`,
    async run(sql) {
      const connection = await createConnection(settings);
      try {
        await connection.query(sql);
      } finally {
        await connection.end();
      }
    },
    kill,
    start,
    stop,
  };
}
