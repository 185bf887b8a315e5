/** The program of the guide to Relay: compiled by Relay's compiler against the schema of the service, and run with its runtime. */
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { command } from '../support/command.ts';
import { startTestService, type TestService } from '../support/service.ts';

const EXAMPLE = fileURLToPath(new URL('../../examples/relay-client', import.meta.url));
/** Files that a fresh clone does not have. */
const NOT_COPIED = new Set(['node_modules', '__generated__', 'schema.graphql']);
const INSTALLATION_MS = 400_000;

let service: TestService;
let folder: string;
beforeAll(async () => {
  service = await startTestService();
  folder = mkdtempSync(join(tmpdir(), 'svc-relay-'));
  cpSync(EXAMPLE, folder, { recursive: true, filter: (path) => !NOT_COPIED.has(basename(path)) });
  await service.sql(`
    create table project (id int primary key, name text not null);
    create table task (id int primary key, title text not null, done boolean not null default false, project_id int not null references project);
    insert into project values (1, 'Garden'), (2, 'House');
    insert into task (id, title, project_id) select n, 'Task ' || n, 1 + n / 8 from generate_series(1, 9) n`);
  const select = (table: string, columns: readonly string[]) => ({ table, role: 'member', permission: { columns, filter: {} } });
  await service.metadata('pg_track_tables', { tables: ['project', 'task'].map((table) => ({ table })) });
  await service.metadata('pg_create_array_relationship', {
    table: 'project',
    name: 'tasks',
    using: { foreign_key_constraint_on: { table: 'task', column: 'project_id' } },
  });
  await service.metadata('pg_create_select_permission', select('project', ['name']));
  await service.metadata('pg_create_select_permission', select('task', ['id', 'title', 'done']));
  const permission = { columns: ['done'], filter: { project_id: { _eq: 1 } }, check: {} };
  await service.metadata('pg_create_update_permission', { table: 'task', role: 'member', permission });
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await service?.stop();
});

async function npm(...args: readonly string[]): Promise<string> {
  const env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    SVC_GRAPHQL_ENDPOINT: service.url,
    PROJECT: Buffer.from('[1, "public", "project", 1]').toString('base64'),
  };
  return (await promisify(execFile)('npm', args, { cwd: folder, env })).stdout;
}

it(
  'reads pages forward and backward, and a changed row, into the store of Relay',
  async () => {
    await npm('ci', '--no-audit', '--no-fund').catch((error: Error) => {
      throw new Error(`The packages of examples/relay-client cannot be installed. This test needs a package registry. ${error.message}`);
    });
    const printed = await command(['schema', '--endpoint', service.url, '--role', 'member', '--relay', '--output', 'schema.graphql'], {
      cwd: folder,
    });
    expect(printed).toMatchObject({ code: 0, stderr: '' });
    await npm('run', 'compile');
    const lines = (await npm('start', '--silent')).trim().split('\n');
    const tasks = (from: number, to: number): string => Array.from({ length: to - from + 1 }, (_, i) => `Task ${from + i}`).join(', ');
    expect(lines).toEqual([
      ...[3, 6, 7].map((to) => `forward: ${tasks(1, to)}`),
      ...[7, 4, 1].map((from) => `backward: ${tasks(from, 9)}`),
      `changed: ${tasks(1, 7).replace('Task 4', 'Task 4 (done)')}`,
    ]);
  },
  INSTALLATION_MS,
);
