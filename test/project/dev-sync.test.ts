import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { metadataKinds } from '../../src/app/metadata-kinds.ts';
import { createDevSync } from '../../src/cli/run/dev-sync.ts';
import { openProject, type Project } from '../../src/project/project.ts';
import { type ServerClient, serverClient } from '../../src/project/server-client.ts';
import { OWN_DATABASE, type ProjectFolder, projectFolder } from '../support/project-folder.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let folder: ProjectFolder;
let server: ServerClient;
let reports: string[];
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
  reports = [];
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
const syncWith = (client = server) => createDevSync(client, metadataKinds, (message) => reports.push(message));
const grant = (role: string) =>
  service.metadata('pg_create_select_permission', { table: 'author', role, permission: { columns: ['id'], filter: {} } });
/** Exported metadata of the service, as text. */
const exported = async (): Promise<string> => JSON.stringify(await service.metadata('export_metadata', {}));
const permission = (role: string, column: string): string =>
  `      select_permissions: [{role: ${role}, permission: {columns: [${column}], filter: {}}}]\n`;

it('does not restore an object that was removed from the files after the sync had written it', async () => {
  const sync = syncWith();
  await sync.run(open());
  // Changes of the service are written even to files that cannot be applied.
  writeTable(permission('editor', 'nowhere'));
  await grant('clicked');
  await expect(sync.run(open())).rejects.toThrow(/nowhere/);
  expect(folder.read(TABLE)).toContain('clicked');
  writeTable(permission('editor', 'id'));
  await sync.run(open());
  expect(folder.read(TABLE)).not.toContain('clicked');
  expect(await exported()).toMatch(/^(?!.*clicked).*editor/);
});

it('writes changes that the service made between two requests of the sync', async () => {
  let isLate = true;
  const sync = syncWith({
    endpoint: server.endpoint,
    send: (path, how) => server.send(path, how),
    sql: (source, sql, args) => server.sql(source, sql, args),
    version: () => server.version(),
    close: () => server.close(),
    async metadata(type, args, extra) {
      const answer = await server.metadata(type, args, extra);
      if (type === 'replace_metadata' && isLate) {
        isLate = false;
        await grant('late');
      }
      return answer;
    },
  });
  await sync.run(open());
  expect(isLate).toBe(false);
  await sync.run(open());
  expect(folder.read(TABLE)).toContain('late');
  expect(await exported()).toContain('late');
});

it('leaves changes of the service unwritten until the next edit if the files have overlays', async () => {
  const sync = syncWith();
  await sync.run(open('local'));
  const before = folder.read(TABLE);
  await grant('clicked');
  expect(await sync.run(open('local'))).toBe('');
  expect(reports).toEqual([expect.stringMatching(/reverts them: added select permission clicked on public\.author$/)]);
  expect(folder.read(TABLE)).toBe(before);
  expect(await exported()).toMatch(/laid over.*clicked/);
  writeTable(permission('editor', 'id'));
  await sync.run(open('local'));
  expect(await exported()).toMatch(/^(?!.*clicked).*editor/);
});
