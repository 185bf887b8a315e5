import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cpuOf } from '../../../test/support/cpu.ts';
import { metadata as arbitraryMetadata } from '../../../test/support/arbitrary-metadata.ts';
import { DEEP, runs } from '../../../test/support/deep.ts';
import { testKinds } from '../../../test/support/kinds.ts';
import { metadataCodec } from '../../metadata/metadata.ts';
import type { JsonObject } from '../../util/json.ts';
import type { ProjectFailure } from '../failure.ts';
import { applyChanges, type FileChanges, projectFiles } from './files.ts';
import { type MetadataFolder, readMetadata } from './read-metadata.ts';
import { sameMeaning } from './sections.ts';
import { writeMetadata } from './write-metadata.ts';

const ROOT = '/nowhere/project';

function folderOf(texts: Readonly<Record<string, string>>): MetadataFolder {
  const changes: FileChanges = new Map(Object.entries(texts).map(([path, text]) => [join(ROOT, 'metadata', path), text]));
  return { files: projectFiles(ROOT, changes), folder: join(ROOT, 'metadata') };
}

const problemsOf = (texts: Readonly<Record<string, string>>) => problemsIn(folderOf(texts));

function problemsIn(folder: MetadataFolder) {
  try {
    readMetadata(folder);
    return [];
  } catch (thrown) {
    return (thrown as ProjectFailure).problems;
  }
}

it('reads includes in every form and place, and splices included lists', () => {
  const { document } = readMetadata(
    folderOf({
      'databases/databases.yaml':
        '- name: a\n  tables:\n    - "!include t.yaml"\n    - !include more/list.yml\n  configuration: &c {connection_info: {database_url: {from_env: X}}}\n- name: b\n  tables: !include "/empty.yaml"\n  configuration: *c\n',
      'databases/t.yaml': 'table: {name: t, schema: public}\ncolumns: "!include \'c d.yaml\'"\ncomment: not an !include x.yaml\n',
      'databases/c d.yaml': '["*"]',
      'databases/more/list.yml': '- table: {name: u, schema: public}\n- <<: {is_enum: true}\n  table: v\n',
      'databases/empty.yaml': '[]',
      'query_collections.yaml': '- name: no\n  definition: {queries: [{name: 1.10, query: !include q.graphql}]}\n',
      'q.graphql': 'query { a # kept\n}',
      'inherited_roles.yaml': '- role_name: 1\n  role_set: [no, 2]\n',
      'api_limits.yaml': 'depth_limit: {global: 12345678901234567890, per_role: {}}\n',
    }),
  );
  const source = { configuration: { connection_info: { database_url: { from_env: 'X' } } } };
  expect(JSON.parse(JSON.stringify(document))).toEqual({
    version: 3,
    sources: [
      {
        name: 'a',
        tables: [
          { table: { name: 't', schema: 'public' }, columns: ['*'], comment: 'not an !include x.yaml' },
          { table: { name: 'u', schema: 'public' } },
          { is_enum: true, table: 'v' },
        ],
        ...source,
      },
      { name: 'b', tables: [], ...source },
    ],
    query_collections: [{ name: 'no', definition: { queries: [{ name: '1.10', query: 'query { a # kept\n}' }] } }],
    inherited_roles: [{ role_name: '1', role_set: ['no', '2'] }],
    api_limits: { depth_limit: { global: '12345678901234567890', per_role: {} } },
  });
});

it('reports missing, invalid and cyclic includes with file, line and column', () => {
  expect(
    problemsOf({
      'databases/databases.yaml':
        '- name: a\n  tables:\n    - "!include gone.yaml"\n    - "!include ../../../etc/passwd"\n  functions: !include loop.yaml\n',
      'databases/loop.yaml': '- "!include loop2.yaml"\n',
      'databases/loop2.yaml': '- "!include loop.yaml"\n',
      'network.yaml': 'a: [1\nb: 2\n',
      'remote_schemas.yaml': '- name: x\n  name: y\n',
    }),
  ).toEqual([
    {
      code: 'missing-file',
      message: expect.stringContaining('"gone.yaml" does not exist'),
      file: 'metadata/databases/databases.yaml',
      line: 3,
      column: 7,
    },
    expect.objectContaining({ code: 'include', line: 4 }),
    expect.objectContaining({
      message: expect.stringContaining('metadata/databases/loop.yaml -> metadata/databases/loop2.yaml -> metadata/databases/loop.yaml'),
    }),
    expect.objectContaining({ code: 'yaml', file: 'metadata/remote_schemas.yaml', line: 2 }),
    expect.objectContaining({ code: 'yaml', file: 'metadata/network.yaml', line: 2 }),
  ]);
  expect(problemsOf({})).toEqual([expect.objectContaining({ message: expect.stringContaining('databases/databases.yaml') })]);
});

it('refuses includes that are links out of the project', () => {
  const outside = mkdtempSync(join(tmpdir(), 'svc-outside-'));
  writeFileSync(join(outside, 'secret.yaml'), 'a: secret\n');
  const root = mkdtempSync(join(tmpdir(), 'svc-project-'));
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  write('databases/databases.yaml', '[]');
  write('network.yaml', '!include linked/secret.yaml');
  write('cron_triggers.yaml', '!include near.yaml');
  write('more/near.yaml', '[]');
  symlinkSync(outside, join(root, 'linked'));
  symlinkSync(join(root, 'more', 'near.yaml'), join(root, 'near.yaml'));
  const problems = problemsIn({ files: projectFiles(root), folder: root });
  for (const folder of [outside, root]) rmSync(folder, { recursive: true });
  expect(problems).toEqual([
    expect.objectContaining({ code: 'include', message: expect.stringContaining('is outside of the project'), file: 'network.yaml' }),
  ]);
});

it('writes through no link that stands where the temporary file of a process is expected', () => {
  const root = mkdtempSync(join(tmpdir(), 'svc-draft-'));
  const victim = join(mkdtempSync(join(tmpdir(), 'svc-victim-')), 'victim.yaml');
  writeFileSync(victim, 'mine');
  symlinkSync(victim, join(root, `.a.yaml.${process.pid}.new`));
  applyChanges(projectFiles(root), new Map([[join(root, 'a.yaml'), '[]\n']]));
  expect(readFileSync(victim, 'utf8')).toBe('mine');
  expect(readFileSync(join(root, 'a.yaml'), 'utf8')).toBe('[]\n');
  rmSync(root, { recursive: true });
  rmSync(dirname(victim), { recursive: true });
});

it('leaves no temporary files if a file cannot be put in its place', () => {
  const root = mkdtempSync(join(tmpdir(), 'svc-draft-'));
  mkdirSync(join(root, 'b.yaml'));
  const changes = new Map([
    [join(root, 'b.yaml'), '[]\n'],
    [join(root, 'c.yaml'), '[]\n'],
  ]);
  expect(() => applyChanges(projectFiles(root), changes)).toThrow(/^not all files were written: /);
  expect(readdirSync(root)).toEqual(['b.yaml']);
  rmSync(root, { recursive: true });
});

it('refuses to read and to write files that are links out of the project', () => {
  const outside = mkdtempSync(join(tmpdir(), 'svc-outside-'));
  writeFileSync(join(outside, 'secret.yaml'), 'a: secret\n');
  const root = mkdtempSync(join(tmpdir(), 'svc-project-'));
  const files = projectFiles(root);
  mkdirSync(join(root, 'real'));
  writeFileSync(join(root, 'real', 'near.sql'), 'select 1;');
  symlinkSync(join(outside, 'secret.yaml'), join(root, 'query_collections.yaml'));
  symlinkSync(outside, join(root, 'migrations'));
  symlinkSync(join(root, 'real'), join(root, 'seeds'));
  symlinkSync('nowhere', join(root, 'dangling.yaml'));
  try {
    const message = expect.stringContaining('this file is a link out of the project');
    for (const path of ['query_collections.yaml', 'migrations/secret.yaml'])
      expect(() => files.read(join(root, path))).toThrow(
        expect.objectContaining({ problems: [expect.objectContaining({ code: 'outside', message, file: path })] }),
      );
    expect(files.read(join(root, 'seeds', 'near.sql'))).toBe('select 1;');
    expect(files.read(join(root, 'dangling.yaml'))).toBeUndefined();
    expect(projectFiles(join(root, 'seeds')).read(join(root, 'seeds', 'near.sql'))).toBe('select 1;');
    for (const path of ['migrations/new.yaml', 'migrations/deep/new.yaml'])
      expect(() => applyChanges(files, new Map([[join(root, path), 'x']]))).toThrow('out of the project');
    expect(readdirSync(outside)).toEqual(['secret.yaml']);
    applyChanges(files, new Map([[join(root, 'seeds', 'more', 'new.sql'), 'x']]));
    expect(files.read(join(root, 'real', 'more', 'new.sql'))).toBe('x');
  } finally {
    for (const folder of [outside, root]) rmSync(folder, { recursive: true });
  }
});

it.runIf(DEEP)(
  'reads a file in time and memory that grow with its length',
  () => {
    const aliases = `- &a {x: 1}\n${'- *a\n'.repeat(20_000)}`;
    const keys = Array.from({ length: 20_000 }, (_, i) => `k${i}: 1\n`).join('');
    for (const text of [aliases, keys]) expect(problemsOf({ 'databases/databases.yaml': '[]', 'network.yaml': text })).toEqual([]);
    for (const text of [']'.repeat(200_000), '}\n'.repeat(100_000), `${keys}${keys}`]) {
      const problems = problemsOf({ 'databases/databases.yaml': '[]', 'network.yaml': text });
      expect(problems).toHaveLength(100);
      expect(problems[0]).toMatchObject({ code: 'yaml', file: 'metadata/network.yaml' });
    }
  },
  60_000,
);

it.runIf(DEEP)(
  'refuses malformed files before it has read all of them',
  async () => {
    const size = 2 ** 22;
    const cases: readonly (readonly [string, string])[] = [
      ['[', 'nested deeper than 200'],
      ['{a: ', 'nested deeper than 200'],
      ['{a:', 'nested deeper than 200'],
      ['- ', 'nested deeper than 200'],
      ['? ', 'nested deeper than 200'],
      ['[,', 'commas'],
      [',', 'commas'],
      ['\n', 'more than 2000000'],
    ];
    for (const [unit, message] of cases) {
      const text = `${unit === ',' ? '[' : ''}${unit.repeat(size / unit.length)}`;
      let problems: ReturnType<typeof problemsOf> = [];
      const spent = await cpuOf(async () => {
        problems = problemsOf({ 'databases/databases.yaml': '[]', 'network.yaml': text });
      });
      expect(problems, unit).toEqual([expect.objectContaining({ code: 'yaml', message: expect.stringContaining(message) })]);
      if (unit !== '\n') expect(spent, unit).toBeLessThan(1000);
    }
  },
  60_000,
);

it('limits aliases and nesting', () => {
  const bomb = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
  for (let i = 1; i < 9; i++) bomb.push(`a${i}: &a${i} [${Array.from({ length: 10 }, () => `*a${i - 1}`).join(', ')}]`);
  expect(problemsOf({ 'databases/databases.yaml': '[]', 'network.yaml': bomb.join('\n') })).toEqual([
    expect.objectContaining({ message: expect.stringContaining('aliases expand to more') }),
  ]);
  expect(problemsOf({ 'databases/databases.yaml': '[]', 'network.yaml': `${'['.repeat(50_000)}` })[0]).toMatchObject({
    file: 'metadata/network.yaml',
  });
});

it('reports parts of actions that are in one file only, or not supported', () => {
  const problems = problemsOf({
    'databases/databases.yaml': '[]',
    'actions.yaml': 'actions:\n  - name: a\n    definition: {handler: x}\ncustom_types: {scalars: [{name: S}]}\n',
    'actions.graphql': 'extend type Mutation { b: Int }\ninterface I { x: Int }\ninput In @d { x: Int }\n',
  });
  expect(problems.map(({ message }) => message)).toEqual([
    'InterfaceTypeDefinition is not supported for actions: use object, input, enum and scalar types',
    'the directive @d is not supported for actions: remove it',
    'action b is not present in metadata/actions.yaml',
    'action a is not present in metadata/actions.graphql',
    'type In is not present among the input_objects of metadata/actions.yaml',
    'type S is not present in metadata/actions.graphql',
  ]);
});

it.each(['before', 'behind'])('matches duplicate enum values in order: %s', (place) => {
  const marked = { value: 'A', is_deprecated: false };
  const values = place === 'before' ? [marked, { value: 'A' }, { value: 'B' }] : [{ value: 'A' }, { value: 'B' }, marked];
  const root = mkdtempSync(join(tmpdir(), 'svc-directory-'));
  try {
    const at: MetadataFolder = { files: projectFiles(root), folder: join(root, 'metadata') };
    const document = { version: 3, sources: [], custom_types: { enums: [{ name: 'E', values }] } };
    applyChanges(at.files, writeMetadata(at, document).changes);
    expect(readMetadata(at).document['custom_types']).toEqual(document.custom_types);
    expect(writeMetadata(at, document)).toEqual({ changes: new Map(), orphans: [] });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});

it('quotes the key << of a value, which merges without quotes', () => {
  const root = mkdtempSync(join(tmpdir(), 'svc-directory-'));
  try {
    const at: MetadataFolder = { files: projectFiles(root), folder: join(root, 'metadata') };
    const permission = { role: 'user', permission: { check: {}, set: { '<<': 1, data: { '': { '<<': 0 } } } } };
    const table = { table: { schema: 'public', name: 'author' }, insert_permissions: [permission] };
    const sources = [{ name: 'default', kind: 'pg', configuration: { connection_info: {} }, tables: [table] }];
    for (const document of [
      { version: 3, sources: [] },
      { version: 3, sources },
    ]) {
      applyChanges(at.files, writeMetadata(at, document).changes);
      expect(readMetadata(at).document['sources']).toEqual(document.sources);
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});

it.each([true, 5, -1, 2.5])('writes the name %j of a payload as it is, and reads a bare one as text', (name) => {
  const root = mkdtempSync(join(tmpdir(), 'svc-directory-'));
  try {
    const at: MetadataFolder = { files: projectFiles(root), folder: join(root, 'metadata') };
    const trigger = (payload: JsonObject) => ({
      name: '7',
      webhook: 'http://localhost',
      schedule: '* * * * *',
      include_in_metadata: true,
      payload,
    });
    const payloads: readonly JsonObject[] = [{ name: 'text' }, { name, more: [{ role: name }] }, { name: String(name) }];
    for (const payload of payloads) {
      const document = { version: 3, sources: [], cron_triggers: [trigger(payload)] };
      applyChanges(at.files, writeMetadata(at, document).changes);
      expect(readMetadata(at).document).toMatchObject(document);
    }
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});

it('writes files that read as the same document, whatever their content before', () => {
  const codec = metadataCodec(testKinds);
  fc.assert(
    fc.property(arbitraryMetadata, arbitraryMetadata, (one, other) => {
      const [first, second] = [one, other].map((each) => codec.encode(each) as JsonObject) as [JsonObject, JsonObject];
      const root = mkdtempSync(join(tmpdir(), 'svc-directory-'));
      try {
        const at: MetadataFolder = { files: projectFiles(root), folder: join(root, 'metadata') };
        for (const document of [first, second, second]) {
          applyChanges(at.files, writeMetadata(at, document).changes);
          const read = readMetadata(at).document;
          for (const key of Object.keys(document)) expect(sameMeaning(read[key] ?? null, document[key] ?? null, key), key).toBe(true);
        }
        expect(writeMetadata(at, second)).toEqual({ changes: new Map(), orphans: [] });
      } finally {
        rmSync(root, { recursive: true, force: true });
      }
    }),
    runs(100, 1),
  );
}, 900_000);
