/** A MariaDB of a test file's own, where the server is installed. */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { createConnection } from 'mysql2/promise';
import { SELF_SIGNED } from './self-signed.ts';

export interface TestMariadb {
  readonly port: number;
  /** A file: the certificate that it shows, which it has signed itself for another name. */
  readonly certificate: string;
  /** Of a database. */
  url(database: string): string;
  /** Several statements in one text, without a database of their own. */
  run(sql: string): Promise<void>;
  stop(): Promise<void>;
}

function program(name: string): string | null {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;
}

/** Tests skip themselves without it: `describe.skipIf(!hasMariadb())`. */
export function hasMariadb(): boolean {
  const isThere = program('mariadbd') !== null && program('mariadb-install-db') !== null;
  if (!isThere) process.stderr.write('mariadb-server is not installed: the tests of MariaDB are skipped\n');
  return isThere;
}

export async function startMariadb(): Promise<TestMariadb> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-mariadb-'));
  const data = join(folder, 'data');
  const owner = userInfo().username;
  execFileSync(
    program('mariadb-install-db') as string,
    ['--no-defaults', `--datadir=${data}`, '--auth-root-authentication-method=normal', '--skip-test-db', `--user=${owner}`],
    { stdio: 'ignore' },
  );
  const port = await freePort();
  const [certificate, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  writeFileSync(certificate, SELF_SIGNED.cert);
  writeFileSync(key, SELF_SIGNED.key);
  const options = [
    '--character-set-server=utf8mb4',
    '--bind-address=127.0.0.1',
    '--innodb-flush-log-at-trx-commit=0',
    '--skip-log-bin',
    '--max-allowed-packet=1M',
    `--ssl-cert=${certificate}`,
    `--ssl-key=${key}`,
  ];
  const server = spawn(
    program('mariadbd') as string,
    ['--no-defaults', `--user=${owner}`, `--datadir=${data}`, `--socket=${join(folder, 's')}`, `--port=${port}`, ...options],
    { stdio: 'ignore' },
  );
  const ended = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  const stop = async (): Promise<void> => {
    server.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  const settings = { host: '127.0.0.1', port, user: 'root', multipleStatements: true };
  for (let attempt = 0; ; attempt++) {
    try {
      await (await createConnection(settings)).end();
      break;
    } catch (error) {
      if (attempt > 300 || server.exitCode !== null) {
        await stop();
        throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
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
    stop,
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
