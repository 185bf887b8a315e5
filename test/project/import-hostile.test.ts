import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { metadataKinds } from '../../src/app/metadata-kinds.ts';
import { type Imported, importProject } from '../../src/project-import/import-project.ts';
import { readInput } from '../../src/project-import/read-input.ts';
import { DEEP } from '../support/deep.ts';

const root = mkdtempSync(join(tmpdir(), 'svc-hostile-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const SOURCE = '- name: default\n  kind: postgres\n  configuration: {connection_info: {database_url: {from_env: PG}}}\n';
const BARE = { 'metadata/databases/databases.yaml': `${SOURCE}  tables: []\n` };
let count = 0;

function imported(files: Readonly<Record<string, string | Buffer>>, prepare?: (folder: string) => void, file = ''): Imported {
  count += 1;
  const folder = join(root, String(count));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  prepare?.(folder);
  const made = importProject(readInput(join(folder, file)), `${folder}-svc`, new Set(), metadataKinds);
  const { leaves, buckets } = made.report;
  expect(Object.values(buckets).reduce((sum, each) => sum + each, 0)).toBe(leaves);
  return made;
}
/** Content of one table per file. */
function tables(texts: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return {
    'metadata/databases/databases.yaml': `${SOURCE}  tables: "!include t/tables.yaml"\n`,
    'metadata/databases/t/tables.yaml': Object.keys(texts)
      .map((name) => `- "!include ${name}"\n`)
      .join(''),
    ...Object.fromEntries(Object.entries(texts).map(([name, text]) => [`metadata/databases/t/${name}`, text])),
  };
}
const notes = ({ report }: Imported): readonly string[] =>
  report.entries.map(({ bucket, place, note = '' }) => `${bucket} ${place}: ${note}`);
const OK = 'table: {schema: public, name: ok}\n';

it.runIf(DEEP).each([
  ['tabs', { 'a.yaml': 'table:\n\tschema: public\n\tname: a\n' }, /needs-you metadata\/databases\/t\/a\.yaml:2: Tabs/],
  ['the same key twice', { 'a.yaml': 'table: {schema: public, name: a}\nis_enum: true\nis_enum: false\n' }, /a\.yaml:3: .*unique/],
  ['an alias bomb', { 'a.yaml': bomb() }, /the aliases expand to more than/],
  ['a placeholder without quotes', { 'a.yaml': 'table: {{NAME}}/x\n' }, /needs-you metadata\/databases\/t\/a\.yaml:1/],
  ['a table twice', { 'a.yaml': `${OK}is_enum: true\n` }, /unsupported sources\[0\]\.tables\[1\]\.is_enum: multiple/],
])('imports the readable part beside %s, and preserves the rest unchanged', (_, texts, note) => {
  const made = imported(tables({ 'ok.yaml': OK, ...texts }));
  expect(notes(made)).toContainEqual(expect.stringMatching(note));
  const metadata = [...made.texts].filter(([path]) => path.startsWith('metadata/databases/')).map(([, text]) => text);
  expect(metadata.join('\n')).toContain('name: ok');
  if (!/twice/.test(_) || _ === 'the same key twice')
    expect(made.texts.get('unsupported/files/metadata/databases/t/a.yaml')).toBe(texts['a.yaml']);
});

function bomb(): string {
  const lines = [...'bcdefgh'].map((name, i) => `${name}: &${name} [${Array(10).fill(`*${'abcdefg'[i]}`).join(',')}]\n`);
  return `a: &a [1,1,1,1,1,1,1,1,1,1]\n${lines.join('')}`;
}

it('follows links without cycles, and reads files that are not UTF-8', () => {
  const made = imported(
    {
      ...BARE,
      'shared/1_a/up.sql': 'select 1;',
      'migrations/default/2_b/up.sql': Buffer.from("select 'gr\xf6\xdfe';", 'latin1'),
      'migrations/default/3_c/up.sql': Buffer.from('\ufeffselect 3;', 'utf16le'),
      'metadata/cron_triggers.yaml': '\ufeff[]\r\n',
    },
    (folder) => {
      symlinkSync('../../shared/1_a', join(folder, 'migrations/default/1_a'));
      symlinkSync('/nowhere', join(folder, 'migrations/default/4_d'));
      symlinkSync('.', join(folder, 'migrations/default/again'));
      symlinkSync('../seeds', join(folder, 'seeds'));
    },
  );
  const sql = (name: string): string | undefined => made.texts.get(`migrations/default/${name}/up.sql`);
  expect([sql('1_a'), sql('2_b'), sql('3_c')]).toEqual(['select 1;', "select 'größe';", 'select 3;']);
  expect(notes(made)).toContainEqual(expect.stringMatching(/needs-you migrations\/default\/2_b\/up\.sql: .*windows-1252/));
});

it('ignores folders outside the project that only a link leads to', () => {
  const made = imported(
    {
      'app/metadata/databases/databases.yaml': `${SOURCE}  tables: []\n`,
      'app/migrations/default/1_a/up.sql': 'select 1;',
      'app/seeds/default/a.sql': 'select 1;',
      'elsewhere/deep/b.sql': 'select 2;',
      'elsewhere/deep/old.yaml': 'a: 1\n',
    },
    (folder) => {
      for (const place of ['metadata', 'migrations', 'migrations/default', 'seeds/default'])
        symlinkSync(join(folder, 'elsewhere'), join(folder, 'app', place, 'away'));
      symlinkSync('/', join(folder, 'app/seeds/default/root'));
      symlinkSync('/', join(folder, 'app/migrations/root'));
      symlinkSync('..', join(folder, 'app/seeds/default/up'));
    },
    'app',
  );
  const sql = [...made.texts.keys()].filter((path) => path.endsWith('.sql'));
  expect([...sql].sort()).toEqual(['migrations/default/1_a/up.sql', 'seeds/default/a.sql']);
  expect([...made.texts.values()].join('\n')).not.toContain('select 2');
  for (const note of [
    /^needs-you seeds\/default\/away: leads out of the project to .*elsewhere, and is not read; set seeds_directory/,
    /^needs-you seeds\/default\/root: leads out of the project to \/, and is not read/,
    /^ignored metadata\/away: leads out of the project/,
    /^ignored migrations\/default\/away: leads out of the project/,
    /^ignored migrations\/root: leads out of the project to \/, which contains no migrations/,
  ])
    expect(notes(made)).toContainEqual(expect.stringMatching(note));
  expect(notes(made).join('\n')).not.toContain('old.yaml');
});

it.skipIf(process.getuid?.() === 0)('reports unreadable folders', () => {
  const shut = [
    ['migrations/default/2_b', 'needs-you'],
    ['seeds/default/b', 'needs-you'],
    ['metadata/old', 'ignored'],
  ] as const;
  const made = imported({ ...BARE, 'migrations/default/1_a/up.sql': 'select 1;' }, (folder) => {
    for (const [path] of shut) mkdirSync(join(folder, path), { recursive: true, mode: 0 });
  });
  for (const [path, bucket] of shut)
    expect(notes(made)).toContainEqual(expect.stringMatching(new RegExp(`^${bucket} ${path}: cannot be read`)));
  expect(made.texts.get('migrations/default/1_a/up.sql')).toBe('select 1;');
});

it('reports seeds of an unknown source', () => {
  const gone = { ...BARE, 'seeds/gone/a.sql': 'select 2;' };
  for (const [made, bucket] of [
    [imported(gone), 'needs-you'],
    [imported({ ...gone, 'seeds/default/a.sql': 'select 1;' }), 'ignored'],
  ] as const) {
    const remark = new RegExp(`^${bucket} seeds/gone: the metadata has no such source, .*: stored in unsupported/`);
    expect(notes(made)).toContainEqual(expect.stringMatching(remark));
    expect(made.texts.get('unsupported/seeds/gone/a.sql')).toBe('select 2;');
  }
});

it('reports metadata API calls inside migrations', () => {
  const made = imported({ 'config.yaml': 'version: 1\n', 'migrations/1_a/up.yaml': '&a\n- *a\n' });
  expect(notes(made)).toContainEqual(expect.stringMatching(/needs-you migrations\/1_a\/up\.yaml: cannot be read: nested deeper/));
});

it('skips irrelevant files and files without an end', () => {
  const link = (name: string) => (folder: string) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    symlinkSync('/dev/zero', join(folder, name));
  };
  expect(imported(BARE, link('seeds/a.bin')).texts.size).toBeGreaterThan(0);
  for (const name of ['seeds/a.sql', 'migrations/default/1_a/up.sql', 'metadata/actions.graphql'])
    expect(() => imported(BARE, link(name))).toThrow(/cannot be read: it is not a regular file/);
});

it('reports migrations that cannot run unchanged, and unused files', () => {
  const told = notes(
    imported({
      ...BARE,
      'config.yaml': 'version: 3\nendpoint: https://api.example.com\n',
      'migrations/default/1_a/up.sql': 'select 1',
      'migrations/default/01_b/up.sql': '\\connect x\n',
      'migrations/default/99999999999999999999_c/up.sql': 'select 1',
      'migrations/default/2_d/README.md': 'x',
      'migrations/5_e/up.sql': 'select 5',
      'metadata/databases/t/public_old.yaml': OK,
      'metadata/inherited_roles.yaml': '{}\n',
    }),
  );
  for (const note of [
    /needs-you .*01_b, .*1_a: have the same version/,
    /needs-you .*01_b\/up\.sql:1: \\connect is for psql only/,
    /needs-you .*9_c: the version is not an unsigned 64-bit integer/,
    /ignored migrations\/default\/2_d\/README\.md: /,
    /needs-you migrations\/5_e: are in no folder of a source/,
    /ignored metadata\/databases\/t\/public_old\.yaml: no other file includes/,
    /ignored inherited_roles: is empty/,
    /renamed config\.yaml\.endpoint: the address of the other engine/,
  ])
    expect(told).toContainEqual(expect.stringMatching(note));
});

it('adds missing parts of migrations, and comments out the guards of a dump', () => {
  const dump = "\\restrict x1\nselect '\n\\restrict is text here';\n\\unrestrict x1\n";
  const copy = '--\n-- Data\n--\n\nCOPY public.a (id) FROM stdin;\n1\n\\.\n';
  const made = imported({
    ...BARE,
    'migrations/default/1_down/down.sql': 'select 1;',
    'migrations/default/2_dump/up.sql': dump,
    'migrations/default/3_copy/up.sql': copy,
    'seeds/default/1.sql': dump,
    'metadata/opentelemetry.yaml':
      'status: enabled\ndata_types: [traces, metrics]\nexporter_otlp: {otlp_traces_endpoint: http://localhost:4318, otlp_metrics_endpoint: http://localhost:4319}\n',
  });
  const guarded = "-- \\restrict x1\nselect '\n\\restrict is text here';\n-- \\unrestrict x1\n";
  expect(made.texts.has('unsupported/migrations/default/1_down/down.sql')).toBe(true);
  expect([made.texts.get('migrations/default/2_dump/up.sql'), made.texts.get('seeds/default/1.sql')]).toEqual([guarded, guarded]);
  expect(made.texts.get('migrations/default/3_copy/up.sql')).toBe(copy);
  expect(notes(made)).toContainEqual(expect.stringMatching(/^needs-you .*3_copy\/up\.sql:5: copy from stdin is for psql only/));
  expect(made.texts.get('metadata/opentelemetry.yaml')).toContain('metrics');
});

it('keeps migrations and seeds of unknown sources out of the deployment', () => {
  const sql = {
    'migrations/gone/1_a/up.sql': 'select 1;',
    'migrations/gone/01_b/up.sql': 'select 1;',
    'seeds/gone/1.sql': 'select 2;',
  };
  const beside = imported({ ...BARE, ...sql, 'migrations/default/1_a/up.sql': 'select 3;' });
  expect(notes(beside)).toEqual([
    expect.stringMatching(/^renamed /),
    expect.stringMatching(/^ignored migrations\/gone: the metadata has no/),
    expect.stringMatching(/^ignored seeds\/gone: the metadata has no/),
  ]);
  expect([...beside.texts.keys()].filter((path) => /gone/.test(path)).sort()).toEqual(
    Object.keys(sql)
      .sort()
      .map((path) => `unsupported/${path}`),
  );
  expect(notes(imported({ ...BARE, ...sql }))).toContainEqual(expect.stringMatching(/^needs-you migrations\/gone: /));
  const without = imported({ 'metadata/databases/databases.yaml': '[]\n', ...sql });
  expect(notes(without)).toContainEqual(expect.stringMatching(/^needs-you migrations\/gone: .*no source "gone"/));
  expect(without.texts.get('migrations/gone/1_a/up.sql')).toBe('select 1;');
  const older = imported({ 'config.yaml': 'version: 2\n', 'metadata/tables.yaml': '[]\n', 'seeds/demo/1.sql': 'select 4;' });
  expect(older.texts.get('seeds/default/demo/1.sql')).toBe('select 4;');
});

it('sets invalid objects aside without affecting others', () => {
  const made = imported(
    tables({
      'ok.yaml': `${OK}odd: 1\nselect_permissions:\n  - {role: u, permission: {columns: [a], filter: {}}}\n  - {role: v, permission: {columns: [null], filter: {}}}\n  - 5\n`,
      'none.yaml': '{}\n',
      'text.yaml': 'just a text\n',
    }),
  );
  const told = notes(made).filter((note) => !note.startsWith('renamed'));
  const at = 'unsupported sources\\[0\\]\\.tables\\[';
  for (const place of ['0\\]\\.odd', '0\\]\\.select_permissions\\[1\\]\\.role', '0\\]\\.select_permissions\\[2\\]', '1\\]', '2\\]'])
    expect(told).toContainEqual(expect.stringMatching(new RegExp(`^${at}${place}: `)));
  expect(made.texts.get('metadata/databases/t/ok.yaml')).toContain('role: u');
  const sources = imported({
    'metadata/databases/databases.yaml': `${SOURCE}  tables: []\n- text\n- {name: other, kind: cockroach, tables: [], configuration: {connection_info: {database_url: {from_env: C}}}}\n`,
    'metadata/api_limits.yaml': '[]\n',
  });
  expect(notes(sources)).toContainEqual(expect.stringMatching(/^needs-you sources\[2\]\.kind: /));
  expect(sources.texts.get('metadata/databases/databases.yaml')).toMatch(/name: default[\s\S]*kind: pg[\s\S]*name: other/);
  expect(sources.texts.get('metadata/api_limits.yaml')).toBe('{}\n');
  expect(imported({ 'metadata/databases/databases.yaml': '' }).texts.get('metadata/databases/databases.yaml')).toBe('[]\n');
});

it('finds metadata in any location, and actions of a document without action files', () => {
  const mixed = imported({
    ...BARE,
    'config.yaml': 'version: 2\n',
    'metadata/version.yaml': 'version: 2\n',
    'metadata/tables.yaml': '[]\n',
  });
  expect(mixed.report.layout).toBe('version 3');
  expect(mixed.texts.get('metadata/version.yaml')).toBe('version: 3\n');
  const bare = imported({ 'databases/databases.yaml': `${SOURCE}  tables: []\n`, 'README.yaml': 'x: 1\n' });
  expect(bare.texts.get('metadata/databases/databases.yaml')).toContain('name: default');
  const handler = 'http://localhost:1';
  const document = {
    version: 3,
    sources: [],
    actions: [
      {
        name: 'a',
        definition: { handler, output_type: 'O', arguments: [], type: 'mutation', kind: 'synchronous', headers: [] },
        comment: null,
      },
      { name: 'b', definition: { handler, output_type: '[O!]', arguments: [{ name: 'x', type: 'Int', description: null }] } },
    ],
    custom_types: { enums: [], objects: [{ name: 'O', fields: [{ name: 'id', type: 'Int' }], relationships: [] }] },
  };
  const made = imported({ 'metadata.json': JSON.stringify(document) }, undefined, 'metadata.json');
  expect(made.texts.get('metadata/actions.graphql')).toContain('b(\n    x: Int\n  ): [O!]');
  expect(made.report.buckets).toMatchObject({ unsupported: 0, 'needs-you': 0 });
});

it('keeps actions whose files have unknown keys', () => {
  const made = imported({
    'metadata/databases/databases.yaml': `${SOURCE}  tables: []\n- {name: ms, kind: mssql, configuration: {connection_info: {}}, tables: []}\n`,
    'metadata/actions.graphql': 'type Mutation {\n  m(dry: Boolean = false): Out\n}\ntype Out { e: E }\nenum E { A }\n',
    'metadata/actions.yaml': `actions:
  - name: m
    definition:
      handler: "{{BASE}}"
      request_transform: {version: 2, template_engine: Kriti, url: "{{$session_variables['x-hasura-user-id']}}"}
custom_types:
  enums: [{name: E, values: [{description: null, is_deprecated: null, value: A}]}]
  objects:
    - name: Out
      description: null
      relationships: [{name: away, type: object, source: ms, remote_table: {schema: dbo, name: t}, field_mapping: {e: id}}]
`,
  });
  expect(made.texts.get('metadata/actions.graphql')).toContain('dry: Boolean\n');
  expect(made.texts.get('metadata/actions.yaml')).toContain('x-svc-user-id');
  const unsupported = notes(made).filter((note) => /^unsupported (?:actions|custom_types)/.test(note));
  expect(unsupported.length).toBeGreaterThan(0);
  for (const note of unsupported)
    expect(note).toMatch(/^unsupported custom_types\.objects\[0\]\.relationships\[0\].*leads to the source "ms"/);
  expect(notes(made)).toContainEqual(expect.stringMatching(/^needs-you metadata\/actions\.graphql:2: the default value of dry/));
});

it('ignores remnants of early versions, and empty keys', () => {
  const { report } = imported({
    'config.yaml': 'endpoint: http://localhost:8080\n',
    'migrations/metadata.yaml': `query_templates: []
functions: []
tables:
- table: a
  insert_permissions:
  - {role: u, comment: null, permission: {allow_upsert: true, localPresets: [{key: "", value: ""}], check: {}, columns: [id], set: {}}}
`,
  });
  expect(report.buckets).toMatchObject({ unsupported: 0, 'needs-you': 0 });
});

it('reads folders outside the project, and reports them', () => {
  const made = imported(
    {
      'hasura/config.yaml': 'version: 3\nmetadata_directory: ../meta\nseeds_directory: ../sown\n',
      'meta/databases/databases.yaml': `${SOURCE}  tables: "!include t/tables.yaml"\n`,
      'meta/databases/t/tables.yaml': '- "!include ok.yaml"\n- "!include ../../../other/a.yaml"\n',
      'meta/databases/t/ok.yaml': OK,
      'meta/cron_triggers.yaml': '- {name: c, webhook: "{{HOOK}}", schedule: "* * * * *", include_in_metadata: true}\n',
      'other/a.yaml': OK,
      'db/1_a/up.sql': 'select 1;',
      'sown/default/deep/1.sql': 'select 2;',
      'sown/default/2.sql': 'select 3;',
    },
    (folder) => {
      mkdirSync(join(folder, 'hasura/migrations'));
      symlinkSync('../../db', join(folder, 'hasura/migrations/default'));
    },
    'hasura',
  );
  const here = join(root, String(count));
  expect([...made.texts.keys()]).toEqual(
    expect.arrayContaining([
      'metadata/cron_triggers.yaml',
      'migrations/default/1_a/up.sql',
      'seeds/default/2.sql',
      'seeds/default/deep/1.sql',
    ]),
  );
  expect(made.texts.get(`unsupported/files${here}/meta/databases/t/tables.yaml`)).toContain('other/a.yaml');
  expect([...made.texts.values()].join()).toContain('name: ok');
  expect(notes(made)).toContainEqual(expect.stringMatching(/needs-you .*tables\.yaml:2: the include .* is outside of the project/));
  expect(made.report.warnings).toEqual([
    expect.stringMatching(/^the service will call 1 webhook of cron triggers\. .*SVC_GRAPHQL_DISABLE_EVENTING=true/),
    `read from outside of the project: ${here}/meta, migrations/default -> ${here}/db, ${here}/sown`,
  ]);
  expect(made.texts.get('.env.example')).toContain('\n# SVC_GRAPHQL_DISABLE_EVENTING=true\n');
});

it('accounts for objects in only one of the action files', () => {
  const made = imported({
    ...BARE,
    'metadata/actions.graphql': 'type Query { q: Out }\n"SDL"\ntype Out { a: Int, e: E }\nenum E { A }\n',
    'metadata/actions.yaml': `top: 1
actions:
  - {name: q, definition: {kind: synchronous, handler: http://x, type: query}}
  - {name: gone, definition: {handler: http://x}}
custom_types:
  enums: [{name: E, values: [{value: A}, {value: B}]}]
  objects: [{name: Out, description: YAML}, {name: Out}]
  input_objects: []
`,
  });
  const told = notes(made).filter((note) => /^(?:unsupported|ignored)/.test(note));
  expect([...told].sort()).toEqual([
    'ignored actions.yaml.actions[0].definition.kind: queries are always synchronous',
    'ignored actions.yaml.custom_types.input_objects: is empty',
    'ignored actions.yaml.custom_types.objects[0].description: actions.graphql defines it',
    expect.stringMatching(/^unsupported actions\.yaml\.actions\[1\]\.definition\.handler: there is no such action/),
    expect.stringMatching(/^unsupported actions\.yaml\.actions\[1\]\.name: /),
    'unsupported actions.yaml.custom_types.enums[0].values[1].value: actions.graphql does not have it',
    expect.stringMatching(/^unsupported actions\.yaml\.custom_types\.objects\[1\]\.name: there is no such type/),
    'unsupported actions.yaml.top: does not belong in this file',
  ]);
});

it('handles names and shapes with a special meaning in JavaScript or YAML', () => {
  const anchored = imported(
    tables({
      'a.yaml':
        'table: &t {schema: public, name: a}\nx-common: &c {columns: "*", filter: {id: {_eq: X-Hasura-Id}}} # shared\nselect_permissions:\n  - {role: no, permission: *c}\n  - {role: 1, permission: {<<: [*c], limit: 5}}\n',
      'b.yaml': `# kept\n${OK}`,
    }),
  );
  expect(anchored.texts.get('metadata/databases/t/a.yaml')).toMatch(/role: no[\s\S]*X-Svc-Id[\s\S]*role: 1,[\s\S]*X-Svc-Id/);
  expect(anchored.texts.get('metadata/databases/t/b.yaml')).toBe(`# kept\n${OK}`);
  const odd = imported(
    { 'metadata.json': '{"version":3,"sources":[],"__proto__":{"a":1},"../../x":{"toString":1},"constructor":2}' },
    undefined,
    'metadata.json',
  );
  expect(notes(odd).filter((note) => note.startsWith('unsupported'))).toHaveLength(3);
  expect([...odd.texts.keys()].filter((path) => path.includes('..'))).toEqual([]);
  const deep = `{"version":3,"sources":[],"x":${'['.repeat(3000)}${']'.repeat(3000)}}`;
  expect(() => imported({ 'metadata.json': deep }, undefined, 'metadata.json')).toThrow('nested deeper');
  expect(() => imported({ 'metadata.json': '{"version": 3,}' }, undefined, 'metadata.json')).toThrow('JSON');
});
