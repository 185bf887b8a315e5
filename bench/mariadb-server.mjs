// Starts a MariaDB for the run, if the server is installed (`apt-get install mariadb-server`).
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';
import { freePort } from '../scripts/debian-postgres.mjs';

function program(name) {
  const folders = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin', '/usr/local/sbin'];
  const found = folders.map((folder) => path.join(folder, name)).find((each) => fs.existsSync(each));
  if (found === undefined) throw new Error(`${name} is not installed: apt-get install mariadb-server`);
  return found;
}

/**
 * @param {readonly string[]} more options of the server
 * @returns its address, and functions that crash it, start it again, and remove it
 */
export async function mariadbServer(more = []) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'svc-mariadb-'));
  const data = path.join(folder, 'data');
  const owner = os.userInfo().username;
  execFileSync(
    program('mariadb-install-db'),
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
  const settings = { host: '127.0.0.1', port, user: 'root', multipleStatements: true };
  let child;
  let ended;
  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  const start = async () => {
    child = spawn(
      program('mariadbd'),
      [
        ...['--no-defaults', `--user=${owner}`, `--datadir=${data}`, `--socket=${path.join(folder, 's')}`, `--port=${port}`],
        ...['--bind-address=127.0.0.1', '--character-set-server=utf8mb4', `--tmpdir=${folder}`, ...more],
      ],
      { stdio: 'ignore' },
    );
    ended = new Promise((resolve) => child.once('exit', resolve));
    for (let attempt = 0; ; attempt++) {
      try {
        return void (await (await createConnection(settings)).end());
      } catch (error) {
        if (attempt === 600 || child.exitCode !== null) throw error;
        await sleep(50);
      }
    }
  };
  await start();
  return {
    port,
    url: (database) => `mariadb://root@127.0.0.1:${port}/${database}`,
    kill,
    start,
    async stop() {
      await kill();
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}
