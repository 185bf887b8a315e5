import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { command, type Ran } from '../support/command.ts';
import { DEEP } from '../support/deep.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let root: string;

beforeAll(async () => {
  service = await startTestService({ ADMIN_SECRET: 'sesame' });
  root = mkdtempSync(join(tmpdir(), 'svc-project-'));
  await service.sql(`create table author (id int primary key, name text not null, email text);
    create table article (id int primary key, author_id int references author, title text)`);
});
afterAll(async () => {
  await service.stop();
  rmSync(root, { recursive: true, force: true });
});

function svc(...args: string[]): Promise<Ran> {
  const env = { SVC_GRAPHQL_ENDPOINT: `${service.url}/v1/graphql`, SVC_GRAPHQL_ADMIN_SECRET: 'sesame' };
  return command(args, { cwd: root, env });
}
function write(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const AUTHOR = `# who writes
table: {schema: public, name: author} # in flow style
array_relationships:
  - name: articles
    using:
      foreign_key_constraint_on: {column: author_id, table: {schema: public, name: article}}
select_permissions:
  # readers see names only
  - role: reader
    permission:
      columns: [name, id]
      filter: {}
  - role: no
    permission:
      columns: '*'
      filter: {id: {_eq: X-Svc-User-Id}}
`;

it('applies a project, sends nothing twice, and preserves handwritten parts on export', async () => {
  write({
    'config.yaml': 'version: 3\nendpiont: http://nowhere\n',
    'metadata/version.yaml': 'version: 3\n',
    'metadata/databases/databases.yaml': `- name: default
  kind: postgres
  configuration:
    connection_info:
      database_url:
        from_env: SVC_GRAPHQL_DATABASE_URL
      isolation_level: read-committed
      use_prepared_statements: false
  tables: !include tables/all.yaml
`,
    'metadata/databases/tables/all.yaml': '# all of them\n- "!include author.yaml"\n- ! "!include \'article file.yaml\'"\n',
    'metadata/databases/tables/author.yaml': AUTHOR,
    'metadata/databases/tables/article file.yaml': 'table: {schema: public, name: article}\n',
    'metadata/actions.yaml': `actions:
  - name: login # comes first
    definition: {kind: synchronous, handler: "http://localhost:1/login", ignored_client_headers: [a]}
    permissions: [{role: reader}]
custom_types: {objects: [{name: Token}]}
`,
    'metadata/actions.graphql': `# the way in
type Mutation {
  login(name: String!): Token
}

"what is given"
type Token {
  text: String # long
}
`,
  });
  const first = await svc('metadata', 'apply', '--json');
  expect(first.json).toMatchObject({ ok: true, sent: true, errors: [] });
  expect(first.json['warnings']).toEqual([
    'config.yaml: unknown key "endpiont", did you mean "endpoint"?',
    expect.stringContaining('the endpoint has the path of an API'),
  ]);
  const again = await svc('metadata', 'apply', '--json');
  expect(again.json).toMatchObject({ ok: true, sent: false });

  // The service has more than the files: a column more, a table less, another table.
  await service.sql('create table tag (id int primary key)');
  await service.metadata('pg_drop_select_permission', { table: 'author', role: 'reader' });
  const permission = { columns: ['id', 'name', 'email'], filter: {} };
  await service.metadata('pg_create_select_permission', { table: 'author', role: 'reader', permission });
  await service.metadata('pg_untrack_table', { table: 'article', cascade: true });
  await service.metadata('pg_track_table', { table: 'tag' });
  const diff = await svc('metadata', 'diff', '--exit-code');
  expect(diff.code).toBe(3);
  expect(diff.stdout).toContain('~ select permission reader on public.author columns -email');
  expect(diff.stdout).toContain('+ table public.article');
  expect(diff.stdout).toContain('- table public.tag');
  const before = statSync(join(root, 'metadata/actions.yaml')).mtimeMs;
  const exported = await svc('metadata', 'export', '--json');
  expect(exported.json).toMatchObject({
    written: expect.arrayContaining(['metadata/databases/tables/author.yaml', 'metadata/databases/tables/public_tag.yaml']),
    removed: ['metadata/databases/tables/article file.yaml'],
  });
  expect(statSync(join(root, 'metadata/actions.yaml')).mtimeMs).toBe(before);
  expect(read('metadata/databases/tables/all.yaml')).toBe('# all of them\n- "!include author.yaml"\n- "!include public_tag.yaml"\n');
  const author = read('metadata/databases/tables/author.yaml');
  expect(author).toContain('# who writes');
  expect(author).toContain('# readers see names only');
  expect(author).toContain('columns: [name, email, id]');
  expect(author).not.toContain('articles');
  expect(read('metadata/actions.graphql')).toContain('# the way in');
  expect((await svc('metadata', 'export', '--check')).code).toBe(0);
});

it('reports where the metadata does not match the database, and changes nothing', async () => {
  write({
    'metadata/databases/tables/public_tag.yaml':
      'table: {schema: public, name: tag}\nselect_permissions:\n  - role: reader\n    permission: {columns: [nothing], filter: {}}\n',
  });
  const { code, json } = await svc('metadata', 'apply', '--json');
  expect(code).toBe(4);
  expect(json['errors']).toEqual([
    expect.objectContaining({ code: 'inconsistent', file: 'metadata/databases/tables/public_tag.yaml', line: 3 }),
  ]);
  const shape = 'table: {schema: public, name: tag}\nselect_permissions:\n  - role: reader\n    permission: {columns: [id], fliter: {}}\n';
  write({ 'metadata/databases/tables/public_tag.yaml': shape });
  const misspelt = await svc('metadata', 'apply', '--json');
  expect(misspelt.code).toBe(1);
  expect(misspelt.json['errors']).toEqual([expect.objectContaining({ file: 'metadata/databases/tables/public_tag.yaml', line: 4 })]);
  expect(await service.metadata('get_inconsistent_metadata', {})).toMatchObject({ is_consistent: true });
});

it.runIf(DEEP)('reports an unreachable or rejecting service', async () => {
  const away = await command(['metadata', 'reload', '--endpoint', 'http://127.0.0.1:1'], { cwd: root });
  expect(away).toMatchObject({ code: 5, stderr: expect.stringContaining('cannot be reached') });
  const refused = await command(['metadata', 'reload', '--endpoint', service.url, '--admin-secret', 'wrong'], { cwd: root });
  expect(refused.code).toBe(5);
});

it('shows no secrets of changes', async () => {
  const withSecrets = (secret: string) => ({
    version: 3,
    sources: [
      {
        name: 'default',
        kind: 'postgres',
        configuration: { connection_info: { database_url: `postgres://user:${secret}@host/db` } },
        tables: [
          {
            table: { schema: 'public', name: 'author' },
            event_triggers: [
              {
                name: 'changed',
                definition: { enable_manual: true },
                retry_conf: { num_retries: 1, interval_sec: 1, timeout_sec: 9 },
                webhook: `https://hooks.example.com/in?token=${secret}&v=1`,
                headers: [{ name: 'Authorization', value: `Bearer ${secret}` }],
              },
            ],
          },
        ],
      },
    ],
  });
  write({ 'none.json': '{"version": 3, "sources": []}' });
  for (const name of ['one', 'two']) write({ [`${name}.json`]: JSON.stringify(withSecrets(`SECRET-${name}`)) });
  for (const args of ['two', 'two --json', 'two --type json', 'two --type unified-json', 'none --json', 'none --type unified-yaml']) {
    const [other = '', ...how] = args.split(' ');
    const { stdout, stderr } = await svc('metadata', 'diff', 'one.json', `${other}.json`, ...how);
    expect(stdout + stderr).not.toContain('SECRET');
    expect(stdout, args).toMatch(args === 'two --type unified-json' ? /which are not shown$/m : /\*\*\*/);
  }
});
