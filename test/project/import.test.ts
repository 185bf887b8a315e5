import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { metadataKinds } from '../../src/app/metadata-kinds.ts';
import { type Imported, importProject } from '../../src/project-import/import-project.ts';
import { readInput } from '../../src/project-import/read-input.ts';
import { type ProjectFolder, projectFolder } from '../support/project-folder.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let folder: ProjectFolder;
beforeAll(async () => {
  service = await startTestService({ SESSION_PREFIX_ALIASES: 'x-hasura-' });
  folder = projectFolder(service);
});
afterAll(async () => {
  await service.stop();
  folder.remove();
});

function write(root: string, files: Readonly<Record<string, string>>): string {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder.root, root, path)), { recursive: true });
    writeFileSync(join(folder.root, root, path), text);
  }
  return join(folder.root, root);
}
function imported(root: string): Imported {
  const made = importProject(readInput(root), `${root}-svc`, new Set(), metadataKinds);
  const { leaves, buckets } = made.report;
  expect(Object.values(buckets).reduce((sum, count) => sum + count, 0)).toBe(leaves);
  return made;
}
const entry = ({ report }: Imported, place: string) => report.entries.find((each) => each.place === place);

const TABLE = `# people
table: {schema: public, name: person}
select_permissions:
  - role: user # themselves
    permission:
      columns: '*'
      filter: {id: {_eq: X-Hasura-User-Id}}
      computed_fields: [owner]
computed_fields:
  - name: owner
    definition:
      function: {schema: public, name: person_owner}
      session_argument: hasura_session
`;

it('creates a project that deploys, exports without a change, and whose SQL uses the old names', async () => {
  write('old', {
    'config.yaml': 'version: 3\nendpoint: http://localhost:1\nmetadata_directory: meta\n',
    'meta/version.yaml': 'version: 3\n',
    'meta/databases/databases.yaml': `- name: default
  kind: postgres
  configuration: {connection_info: {database_url: {from_env: HASURA_GRAPHQL_DATABASE_URL}, isolation_level: read-committed, use_prepared_statements: false}}
  customization: {naming_convention: hasura-default}
  tables: "!include default/tables/tables.yaml"
`,
    'meta/databases/default/tables/tables.yaml': '- "!include public_person.yaml" # the only one\n',
    'meta/databases/default/tables/public_person.yaml': TABLE,
    'meta/actions.graphql': 'type Query {\n  ping: String\n}\n',
    'meta/actions.yaml':
      'actions:\n  - name: ping\n    definition:\n      kind: ""\n      handler: http://localhost:1\n    comment: answers\n',
    'migrations/default/1_person/up.sql':
      "create table person (id text primary key, code uuid default hdb_catalog.gen_hasura_uuid());\r\ncreate function person_owner(person person, hasura_session json) returns text language sql stable as $$ select hasura_session ->> 'x-hasura-user-id' $$;\r\n",
    'migrations/default/2_index/up.sql': 'create index concurrently person_code on person (code);\n',
    'seeds/default/1_people.sql': "insert into person values ('7'), ('8');\n",
  });
  const first = await folder.svc('import', 'old', '--out', 'new', '--json', '--report', 'report.json');
  expect(first.code).toBe(3);
  expect(first.json).toMatchObject({ ok: true, open: 1, report: { buckets: { unsupported: 0, 'needs-you': 0 } } });
  const again = await folder.svc('import', 'old', '--out', 'new', '--accept', 'sql:session-names', '--json');
  expect(again.code).toBe(0);
  expect(readFileSync(join(folder.root, 'new/metadata/databases/default/tables/public_person.yaml'), 'utf8')).toBe(
    TABLE.replaceAll('X-Hasura-', 'X-Svc-'),
  );
  const deployed = await folder.svc('deploy', '--project', 'new', '--with-seeds', '--json');
  expect(deployed.json).toMatchObject({ ok: true, migrations: [{ version: '1' }, { version: '2' }], seeds: [{}] });
  expect(await service.graphql('{ person { id owner } }', { role: 'user', session: { 'user-id': '7' } })).toEqual({
    data: { person: [{ id: '7', owner: '7' }] },
  });
  expect((await folder.svc('metadata', 'export', '--project', 'new', '--check')).stdout).toContain('nothing would change');
});

it('keeps edits since the last import, and reports a conflict if both sides have changed', async () => {
  const old = (cron: string): string =>
    write('edited-old', { 'config.yaml': 'version: 3\n', 'metadata/version.yaml': 'version: 3\n', 'metadata/cron_triggers.yaml': cron });
  const cron = (schedule: string): string =>
    `- name: daily\n  webhook: http://localhost:1\n  schedule: ${schedule}\n  include_in_metadata: true\n  payload: {}\n`;
  const read = (file: string): string => readFileSync(join(folder.root, 'edited', file), 'utf8');
  const again = () => folder.svc('import', 'edited-old', '--out', 'edited', '--json');
  old(cron('0 3 * * *'));
  expect(await again()).toMatchObject({ code: 0, json: { kept: [] } });
  write('edited', { 'config.yaml': 'version: 3\nendpoint: http://elsewhere:1\n', 'metadata/mine.yaml': '[]\n' });
  old(cron('0 4 * * *'));
  expect(await again()).toMatchObject({ code: 0, json: { kept: ['config.yaml'] } });
  expect([read('config.yaml'), read('metadata/mine.yaml'), read('metadata/cron_triggers.yaml')]).toEqual([
    'version: 3\nendpoint: http://elsewhere:1\n',
    '[]\n',
    cron('0 4 * * *'),
  ]);
  write('edited', { 'metadata/cron_triggers.yaml': cron('0 9 * * *') });
  expect(await again()).toMatchObject({ code: 0, json: { kept: ['config.yaml', 'metadata/cron_triggers.yaml'] } });
  old(cron('0 5 * * *'));
  expect(await again()).toMatchObject({ code: 2, json: { errors: [{ code: 'edited' }] } });
  expect(read('metadata/cron_triggers.yaml')).toBe(cron('0 9 * * *'));
});

it('accounts for every key that it cannot translate, and preserves it', () => {
  const made = imported(
    write('odd', {
      'config.yaml': 'version: 3\nadmin_secret: hunter2\nunheard: [of]\n',
      'metadata/databases/databases.yaml': `- name: default
  kind: pg
  configuration: {connection_info: {database_url: postgres://u:p@h/d, pool_settings: {total_max_connections: 3}, isolation_level: weird}}
  native_queries: [{root_field_name: x, code: select 1}]
  logical_models: []
  tables:
    - table: {schema: public, name: a}
    - table: a
      is_enum: true
      comment: twin
    - table: {schema: public, name: b}
      apollo_federation_config: {enable: v1}
      strange: {deep: [1, 2]}
      remote_relationships:
        - {name: gone, definition: {to_source: {source: ms, table: t, relationship_type: object, field_mapping: {id: id}}}}
      event_triggers:
        - name: e
          definition: {enable_manual: false, insert: {columns: "*"}}
          retry_conf: {num_retries: 0, interval_sec: 10, timeout_sec: 60}
          webhook: "{{HOOK}}"
          headers: [{name: X-Hasura-Secret, value_from_env: HASURA_GRAPHQL_ADMIN_SECRET}]
          request_transform: {version: 2, template_engine: Kriti, url: "{{$base_url}}?u={{$session_variables['X-Hasura-User-Id']}}&x-hasura-b"}
- {name: ms, kind: mssql, configuration: {connection_info: {}}, tables: [{table: {schema: dbo, name: t}}]}
`,
      'metadata/remote_schemas.yaml': `- name: r
  definition: {url_from_env: HASURA_GRAPHQL_REMOTE, forward_client_headers: true}
  permissions:
    - role: user
      definition:
        schema: |
          schema { query: Query }
          type Query { a(x: String @preset(value: "X-Hasura-User-Id"), y: String @preset(value: "x-hasura-y", static: true)): String }
`,
      'metadata/backend_configs.yaml': 'dataconnector: {athena: {uri: http://x}}\n',
      'migrations/ms/1_a/up.sql': 'select 1',
      'migrations/default/1_a/up.sql': 'select * from hdb_catalog.event_log;\nselect 2;',
      'migrations/default/squashed_1_to_2/x/up.sql': '',
    }),
  );
  expect(entry(made, 'sources[0].tables[2].strange.deep[1]')).toMatchObject({ bucket: 'unsupported' });
  expect(entry(made, 'sources[0].native_queries[0].code')).toMatchObject({ bucket: 'unsupported' });
  expect(entry(made, 'sources[0].logical_models')).toMatchObject({ bucket: 'ignored' });
  expect(entry(made, 'sources[0].configuration.connection_info.isolation_level')).toMatchObject({ bucket: 'unsupported' });
  expect(entry(made, 'sources[0].tables[1].is_enum')).toMatchObject({
    bucket: 'unsupported',
    note: expect.stringContaining('multiple declarations'),
  });
  expect(entry(made, 'sources[1].kind')).toMatchObject({ bucket: 'unsupported' });
  expect(entry(made, 'sources[0].tables[2].remote_relationships[0].name')).toMatchObject({ bucket: 'unsupported' });
  expect(entry(made, 'backend_configs.dataconnector.athena.uri')).toMatchObject({ bucket: 'ignored' });
  expect(entry(made, 'config.yaml.admin_secret')).toMatchObject({ bucket: 'needs-you' });
  expect(entry(made, 'migrations.default.1_a.up.sql:catalog')).toBeUndefined();
  const text = (path: string): string => made.texts.get(path) ?? '';
  expect(text('unsupported/sources.yaml')).toContain('deep:');
  expect(text('unsupported/migrations/ms/1_a/up.sql')).toBe('select 1');
  expect(text('migrations/default/1_a/up.sql')).toContain('-- select * from hdb_catalog.event_log');
  const metadata = [...made.texts].flatMap(([path, each]) => (path.startsWith('metadata/') ? [each] : [])).join('\n');
  expect(metadata).toContain(`{{$session_variables['X-Svc-User-Id']}}&x-hasura-b`);
  expect(metadata).toContain('@preset(value: "X-Svc-User-Id")');
  expect(metadata).toContain('@preset(value: "x-hasura-y", static: true)');
  expect(metadata).toContain('ext_federation_config');
  expect(metadata).toContain('url_from_env: HASURA_GRAPHQL_REMOTE');
  expect(JSON.stringify(made.report)).not.toMatch(/hunter2|u:p@h/);
});

it('reads the older layouts', () => {
  const two = imported(
    write('two', {
      'config.yaml': 'version: 2\n',
      'metadata/version.yaml': 'version: 2\n',
      'metadata/tables.yaml':
        '- table: {schema: public, name: a}\n  delete_permissions: [{role: u, permission: {filter: {id: {$eq: x-hasura-id}}}, comment: null}]\n',
      'metadata/functions.yaml': '- function: {schema: public, name: f}\n',
      'migrations/1_a/up.sql': 'create table a (id int);',
      'migrations/2_b/up.yaml': '- type: run_sql\n  args: {sql: select 1}\n- {type: track_table, args: {name: a}}\n',
      'seeds/1_s.sql': 'select 3;',
    }),
  );
  expect([...two.texts.keys()]).toEqual(
    expect.arrayContaining(['migrations/default/1_a/up.sql', 'migrations/default/2_b/up.sql', 'seeds/default/1_s.sql']),
  );
  expect(two.texts.get('migrations/default/2_b/up.sql')).toBe('select 1;\n');
  expect(two.report).toMatchObject({ layout: 'version 2', migrations: 2 });
  const one = imported(
    write('one', {
      'config.yaml': '',
      'migrations/1_a.up.sql': 'create table a (id int)',
      'migrations/1_a.up.yaml': '- {type: bulk, args: [{type: postgres_run_sql, args: {sql: "select 2;"}}]}\n',
      'migrations/1_a.down.yaml': '- {type: run_sql, args: {sql: drop table a}}\n',
      'migrations/metadata.yaml': 'functions: [f]\ntables: [a, {table: b, is_enum: true}]\nremote_schemas: []\n',
    }),
  );
  expect(one.texts.get('migrations/default/1_a/up.sql')).toBe('create table a (id int);\nselect 2;\n');
  expect(one.texts.get('migrations/default/1_a/down.sql')).toBe('drop table a;\n');
  expect(one.texts.get('metadata/databases/default/tables/tables.yaml')).toBe('- "!include public_a.yaml"\n- "!include public_b.yaml"\n');
  const folderOfFile = write('single', { 'metadata.json': '{"resource_version": 3, "metadata": {"version": 3, "sources": []}}' });
  const single = imported(join(folderOfFile, 'metadata.json'));
  expect(single.report.layout).toBe('single file');
});
