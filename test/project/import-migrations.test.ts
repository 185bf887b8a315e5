import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { metadataKinds } from '../../src/app/metadata-kinds.ts';
import { type Imported, importProject } from '../../src/project-import/import-project.ts';
import { readInput } from '../../src/project-import/read-input.ts';

const root = mkdtempSync(join(tmpdir(), 'svc-import-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let projects = 0;
function imported(files: Readonly<Record<string, string>>): Imported {
  const folder = join(root, `p${projects++}`);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return importProject(readInput(folder), `${folder}-svc`, new Set(), metadataKinds);
}
const V3 = {
  'config.yaml': 'version: 3\n',
  'metadata/version.yaml': 'version: 3\n',
  'metadata/databases/databases.yaml':
    '- name: default\n  kind: postgres\n  configuration: {connection_info: {database_url: {from_env: U}, isolation_level: read-committed}}\n  tables:\n    - table: {schema: public, name: pending}\n',
};
const files = ({ texts }: Imported, folder: string): readonly string[] =>
  [...texts.keys()].filter((path) => path.startsWith(folder)).sort();
const entry = ({ report }: Imported, id: string) => report.entries.find((each) => each.id === id);

it('imports migrations of version 3 that are files without folders', () => {
  const made = imported({
    ...V3,
    'migrations/default/1_a.up.sql': 'create table a ();',
    'migrations/default/1_a.down.sql': 'drop table a;',
    'migrations/default/2_b/up.sql': 'create table b ();',
    'migrations/default/3_c.up.yaml': '- {type: run_sql, args: {sql: select 1}}',
  });
  expect(files(made, 'migrations/')).toEqual([
    'migrations/default/1_a/down.sql',
    'migrations/default/1_a/up.sql',
    'migrations/default/2_b/up.sql',
  ]);
  expect(made.texts.get('migrations/default/1_a/up.sql')).toBe('create table a ();');
  expect(entry(made, 'migrations.default.3_c.up.yaml')).toMatchObject({ bucket: 'ignored' });
  expect(made.report.migrations).toBe(2);
});

it('sets aside the second of two files of one migration', () => {
  const made = imported({
    ...V3,
    'migrations/default/1_a/up.sql': 'create table a ();',
    'migrations/default/1_a.up.sql': 'create table other ();',
  });
  expect(files(made, 'unsupported/')).toHaveLength(1);
  expect(made.report.entries.filter(({ bucket }) => bucket === 'needs-you')).toHaveLength(1);
});

it('creates no empty up.sql for a migration with only a down.sql', () => {
  const made = imported({ ...V3, 'migrations/default/1_a/down.sql': 'drop table a;' });
  expect(files(made, 'migrations/')).toEqual([]);
  expect(made.texts.get('unsupported/migrations/default/1_a/down.sql')).toBe('drop table a;');
  expect(entry(made, 'migrations.default.1_a:up')).toMatchObject({ bucket: 'needs-you' });
});

it('runs no seed outside the folder of a source, and overwrites none of the same name', () => {
  const made = imported({ ...V3, 'seeds/1_rows.sql': 'select 1;', 'seeds/default/1_rows.sql': 'select 2;' });
  expect(made.texts.get('seeds/default/1_rows.sql')).toBe('select 2;');
  expect(made.texts.get('unsupported/seeds/1_rows.sql')).toBe('select 1;');
  expect(entry(made, 'seeds:root')).toMatchObject({ bucket: 'ignored' });
});

it('reports files beside migrations and seeds that are not SQL', () => {
  const made = imported({ ...V3, 'seeds/default/rows.csv': '1\n', 'migrations/notes.md': '#', 'migrations/default/readme.txt': '-' });
  expect(entry(made, 'seeds:unread')?.place).toBe('seeds/default/rows.csv');
  expect(entry(made, 'migrations:unread')?.place.split(', ').sort()).toEqual(['migrations/default/readme.txt', 'migrations/notes.md']);
});

it('comments out dependants of a commented hdb_catalog statement, until it is recreated', () => {
  const made = imported({
    ...V3,
    'migrations/default/1_a/up.sql':
      'create table a (id int);\ncreate view pending as select * from hdb_catalog.event_log;\ngrant select on pending to public;\ninsert into a values (1); -- nothing of hdb_catalog\n',
    'migrations/default/1_a/down.sql': 'drop view pending;\ndrop table a;\n',
    'migrations/default/2_b/up.sql': 'create view later as select p.* from a, public.pending p;\ncreate view "depending" as select 1;\n',
    'migrations/default/3_c/up.sql': 'create or replace view later as select * from a;\ncreate view last as select * from later;\n',
  });
  const run = (path: string): string =>
    (made.texts.get(path) ?? '')
      .split('\n')
      .filter((line) => !line.startsWith('--') && line.trim() !== '')
      .join('\n');
  expect(run('migrations/default/1_a/up.sql')).toBe(
    'create table a (id int);\nselect 1;\nselect 1;\ninsert into a values (1); -- nothing of hdb_catalog',
  );
  expect(run('migrations/default/1_a/down.sql')).toBe('select 1;\ndrop table a;');
  expect(run('migrations/default/2_b/up.sql')).toBe('select 1;\ncreate view "depending" as select 1;');
  expect(made.texts.get('migrations/default/3_c/up.sql')).not.toContain('svc import');
  expect(entry(made, 'migrations.default.1_a.up.sql:catalog-dependents')?.note).toContain('pending');
  expect(entry(made, 'tables.default.pending:catalog')).toMatchObject({ bucket: 'needs-you' });
});

it('builds the metadata of version 1 from the API calls of its migrations', () => {
  const made = imported({
    'config.yaml': 'endpoint: http://localhost:1\n',
    'migrations/1_a.up.yaml': `- type: run_sql
  args: {sql: create table author (id int primary key)}
- type: track_table
  args: {name: author, schema: public}
- {type: add_existing_table_or_view, args: book}
- type: bulk
  args:
    - type: create_select_permission
      args: {table: author, role: user, permission: {columns: [id], filter: {id: {_eq: X-Hasura-User-Id}}}}
    - {type: create_insert_permission, args: {table: author, role: user, permission: {columns: [id], check: {}}}}
    - type: create_array_relationship
      args: {table: author, name: books, using: {foreign_key_constraint_on: {table: book, column: author_id}}}
`,
    'migrations/2_b/up.yaml': `- {type: drop_insert_permission, args: {table: {schema: public, name: author}, role: user}}
- {type: rename_relationship, args: {table: author, name: books, new_name: works}}
- {type: untrack_table, args: {table: book}}
- {type: create_event_trigger, args: {name: e, table: author, webhook: "http://localhost", insert: {columns: "*"}}}
- {type: add_remote_schema, args: {name: r, definition: {url: "http://localhost"}}}
- {type: strange_call, args: {}}
`,
  });
  const text = [...made.texts]
    .filter(([path]) => path.startsWith('metadata/'))
    .map(([, each]) => each)
    .join('\n');
  expect(text).toContain('X-Svc-User-Id');
  expect(text).toContain('name: works');
  expect(text).toContain('name: e\n');
  expect(text).not.toContain('insert_permissions');
  expect(files(made, 'metadata/databases/default/tables/')).toEqual([
    'metadata/databases/default/tables/public_author.yaml',
    'metadata/databases/default/tables/tables.yaml',
  ]);
  expect(made.texts.get('migrations/default/1_a/up.sql')).toContain('create table author');
  expect(made.texts.get('metadata/remote_schemas.yaml')).toContain('name: r');
  expect(entry(made, 'metadata:calls')).toMatchObject({ bucket: 'needs-you', note: expect.stringContaining('strange_call') });
});
