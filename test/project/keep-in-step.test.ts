import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { metadataKinds } from '../../src/app/metadata-kinds.ts';
import { keepInStep } from '../../src/cli/run/keep-in-step.ts';
import { openProject, type Project } from '../../src/project/project.ts';
import { type ServerClient, serverClient } from '../../src/project/server-client.ts';
import { OWN_DATABASE, type ProjectFolder, projectFolder } from '../support/project-folder.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let folder: ProjectFolder;
let server: ServerClient;
let told: string[];
beforeAll(async () => {
  service = await startTestService();
  folder = projectFolder(service);
  writeTable();
  server = serverClient(open().settings);
  await service.sql('create table author (id int primary key, name text)');
});
afterAll(async () => {
  await service.stop();
  folder.remove();
});
beforeEach(async () => {
  told = [];
  await service.metadata('clear_metadata', {});
  writeTable();
});

const TABLE = 'metadata/databases/databases.yaml';
const writeTable = (more = ''): void => {
  folder.write({
    'config.yaml': 'version: 3\nenvironments: {local: {overlays: [local.yaml]}}\n',
    'local.yaml': 'sources: [{name: default, tables: [{table: {schema: public, name: author}, configuration: {comment: laid over}}]}]\n',
    [TABLE]: `- name: default\n  kind: postgres\n  ${OWN_DATABASE}\n  tables:\n    - table: {schema: public, name: author}\n${more}`,
  });
};
const open = (env?: string): Project => openProject(folder.root, { env, endpoint: service.url }, {});
const inStep = (client = server) => keepInStep(client, metadataKinds, (message) => told.push(message));
const grant = (role: string) =>
  service.metadata('pg_create_select_permission', { table: 'author', role, permission: { columns: ['id'], filter: {} } });
/** Of the table in the service. */
const exported = async (): Promise<string> => JSON.stringify(await service.metadata('export_metadata', {}));
const permission = (role: string, column: string): string =>
  `      select_permissions: [{role: ${role}, permission: {columns: [${column}], filter: {}}}]\n`;

it('brings nothing back that was taken out of the files after it had come into them', async () => {
  const step = inStep();
  await step.keep(open());
  // What is clicked comes into files that cannot be applied.
  writeTable(permission('editor', 'nowhere'));
  await grant('clicked');
  await expect(step.keep(open())).rejects.toThrow(/nowhere/);
  expect(folder.read(TABLE)).toContain('clicked');
  writeTable(permission('editor', 'id'));
  await step.keep(open());
  expect(folder.read(TABLE)).not.toContain('clicked');
  expect(await exported()).toMatch(/^(?!.*clicked).*editor/);
});

it('writes what is clicked between two requests of its own', async () => {
  let isLate = true;
  const step = inStep({
    ...server,
    async metadata(type, args, extra) {
      const answer = await server.metadata(type, args, extra);
      if (type === 'replace_metadata' && isLate) {
        isLate = false;
        await grant('late');
      }
      return answer;
    },
  });
  await step.keep(open());
  expect(isLate).toBe(false);
  await step.keep(open());
  expect(folder.read(TABLE)).toContain('late');
  expect(await exported()).toContain('late');
});

it('leaves what is clicked to the next edit where the files have overlays, and sends nothing until then', async () => {
  const step = inStep();
  await step.keep(open('local'));
  const before = folder.read(TABLE);
  await grant('clicked');
  expect(await step.keep(open('local'))).toBe('');
  expect(told).toEqual([expect.stringMatching(/takes it back: added select permission clicked on public\.author$/)]);
  expect(folder.read(TABLE)).toBe(before);
  expect(await exported()).toMatch(/laid over.*clicked/);
  writeTable(permission('editor', 'id'));
  await step.keep(open('local'));
  expect(await exported()).toMatch(/^(?!.*clicked).*editor/);
});
