import { afterAll, beforeAll, expect, it } from 'vitest';
import { OWN_DATABASE, type ProjectFolder, projectFolder } from '../support/project-folder.ts';
import { startTestService, type TestService } from '../support/service.ts';
import type { Json } from '../../src/util/json.ts';

let service: TestService;
let project: ProjectFolder;
const tracking = (...tables: string[]) => ({
  'metadata/databases/databases.yaml': `- name: default\n  kind: postgres\n  ${OWN_DATABASE}\n  tables:\n${tables.map((name) => `    - table: {schema: public, name: ${name}}\n`).join('')}`,
});
const DRIFT = 'schema drift: public.by_hand of default is tracked, and no migration creates it: other databases will not have it';

async function findings(...ids: string[]): Promise<readonly Json[]> {
  const { json } = await project.svc('doctor', '--json');
  return (json['findings'] as { id: string; cause: string }[]).flatMap(({ id, cause }) => (ids.includes(id) ? [cause] : []));
}

beforeAll(async () => {
  service = await startTestService();
  project = projectFolder(service);
  project.write({
    'config.yaml': 'version: 3\n',
    ...tracking('task'),
    'migrations/default/1_task/up.sql': 'create table task (id int primary key);\n',
    'migrations/default/1_task/down.sql': 'drop table task;\n',
  });
  expect((await project.svc('deploy')).code).toBe(0);
  await service.sql('create table by_hand (id int primary key)');
});
afterAll(async () => {
  await service.stop();
  project.remove();
});

it('names tables that no migration creates, until one does', async () => {
  expect((await project.svc('plan')).stdout).not.toContain('drift');
  expect(await findings('schema-drift')).toEqual([]);
  project.write(tracking('task', 'by_hand'));
  const [plan, verified] = [await project.svc('plan', '--json'), await project.svc('migrate', 'verify')];
  expect(plan.json['plan']).toMatchObject({ notes: [DRIFT] });
  expect(verified).toMatchObject({ code: 0, stderr: expect.stringContaining(DRIFT) });
  expect(verified.stdout).toBe('0 migrations verified: only pending ones are; with --scratch also applied ones\n');
  expect((await project.svc('plan')).stdout).toContain(DRIFT);
  expect(await findings('schema-drift')).toEqual([DRIFT]);

  project.write({ 'migrations/default/2_by_hand/up.sql': 'create table by_hand (id int primary key);\n' });
  expect((await project.svc('migrate', 'apply', '--skip-execution', '--version', '2')).code).toBe(0);
  expect((await project.svc('migrate', 'verify')).stderr).not.toContain('drift');
  expect(await findings('schema-drift')).toEqual([]);
});

it('compares the files with the service', async () => {
  project.write(tracking('task', 'by_hand'));
  expect((await project.svc('deploy')).code).toBe(0);
  expect(await findings('not-applied')).toEqual([]);
  await service.metadata('pg_untrack_table', { table: 'by_hand' });
  expect(await findings('not-applied')).toEqual([
    'the metadata of the files and of the service differ: table public.by_hand (only in the files)',
  ]);
  project.write(tracking('by_hand'));
  expect(await findings('not-applied')).toEqual([
    'the metadata of the files and of the service differ: table public.by_hand (only in the files), table public.task (only in the service)',
  ]);
});

it('verifies migrations of a project without metadata files', async () => {
  const bare = projectFolder(service);
  bare.write({
    'config.yaml': 'version: 3\n',
    'migrations/default/3_next/up.sql': 'create table next ();',
    'migrations/default/3_next/down.sql': 'drop table next;',
  });
  expect(await bare.svc('migrate', 'verify')).toMatchObject({ code: 0, stdout: '1 migration verified\n' });
  bare.remove();
});
