/** A MariaDB server for a test file, if MariaDB is installed. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { freePort } from './free-port.ts';
import { SELF_SIGNED } from './self-signed.ts';

export interface TestMariadb {
  readonly port: number;
  /** File of the self-signed certificate, which names another host. */
  readonly certificate: string;
  /** URL of a database. */
  url(database: string): string;
  /** Runs a text of several statements, without a default database. */
  run(sql: string): Promise<void>;
  /** Kills the server, as in a crash. */
  kill(): Promise<void>;
  /** Restarts the server after `kill`. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

function program(name: string): string | null {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;
}

/** For tests that need MariaDB: `describe.skipIf(!hasMariadb())`. With `SVC_TEST_REQUIRE_MARIADB=1` they fail instead. */
export function hasMariadb(): boolean {
  const isThere = program('mariadbd') !== null && program('mariadb-install-db') !== null;
  if (!isThere && process.env['SVC_TEST_REQUIRE_MARIADB'] === '1') throw new Error('mariadb-server is not installed');
  if (!isThere) process.stderr.write('mariadb-server is not installed: the tests of MariaDB are skipped\n');
  return isThere;
}

/**
 * Runs a server until its standard input closes, which happens whenever the test process ends. Any input keeps
 * its files; otherwise they are removed.
 */
const WATCHED = `"$@" & server=$!
read -r word
kill -9 $server
wait $server 2> /dev/null
[ -n "$word" ] || rm -rf "$0"`;

/** The server of this worker, whose files run one after another and each find it empty. */
let shared: Promise<TestMariadb> | undefined;

/** An empty server. `stop` removes its contents, because another test file may reuse it. */
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

/** A private server that the test may restart or kill. @param more options of the server */
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
    // No child process survives the test.
    '--innodb-flush-log-at-trx-commit=0',
    '--innodb-flush-method=nosync',
    '--skip-innodb-doublewrite',
    '--debug-no-sync',
    '--sync-frm=0',
    '--skip-log-bin',
    // A starting server removes the files of other servers in a shared folder.
    `--tmpdir=${folder}`,
    '--max-allowed-packet=1M',
    `--ssl-cert=${certificate}`,
    `--ssl-key=${key}`,
    ...more,
  ];
  const settings = { host: '127.0.0.1', port, user: 'root', multipleStatements: true };
  let server: ChildProcess;
  /** @param forGood also removes its files */
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
