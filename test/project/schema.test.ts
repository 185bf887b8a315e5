/** `svc schema`: the schema of a role from a service and from files, and the part of it that documents use. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildClientSchema, buildSchema, getIntrospectionQuery, type IntrospectionQuery, parse, validate, validateSchema } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { command, type Ran } from '../support/command.ts';
import { type ProjectFolder, projectFolder } from '../support/project-folder.ts';
import { startTestService, type TestService } from '../support/service.ts';

let service: TestService;
let folder: ProjectFolder;

const DOCUMENTS = {
  'src/tasks.graphql': `query Tasks($where: task_bool_exp!, $limit: Int) { task(where: $where, limit: $limit, order_by: {id: asc}) { ...TaskParts } }
mutation Done($id: Int!, $set: task_set_input!) { update_task_by_pk(pk_columns: {id: $id}, _set: $set) { id status } }`,
  'src/parts/task.graphql': 'fragment TaskParts on task { id title project { ...ProjectName } }\nfragment ProjectName on project { name }',
};

beforeAll(async () => {
  service = await startTestService();
  await service.sql(`create table owner (id int primary key, name text not null, secret text);
    create table project (id int primary key, name text not null, owner_id int references owner);
    create table task (id int primary key, title text not null, status text, effort int, meta jsonb, project_id int references project)`);
  const select = (role: string, columns: string | readonly string[]) => ({
    role,
    permission: { columns, filter: {}, allow_aggregations: role === 'user' },
  });
  const relationship = (name: string, column: string) => ({ name, using: { foreign_key_constraint_on: column } });
  const many = (name: string, table: string, column: string) => ({ name, using: { foreign_key_constraint_on: { table, column } } });
  folder = projectFolder(service);
  folder.write({
    'config.yaml': 'version: 3\nmetadata_file: metadata.json\n',
    'metadata.json': JSON.stringify({
      version: 3,
      sources: [
        {
          name: 'default',
          kind: 'pg',
          configuration: { connection_info: { database_url: { from_env: 'SVC_GRAPHQL_DATABASE_URL' } } },
          tables: [
            {
              table: 'task',
              object_relationships: [relationship('project', 'project_id')],
              select_permissions: [select('user', '*'), select('guest', ['id', 'title'])],
              update_permissions: [{ role: 'user', permission: { columns: ['title', 'status'], filter: {}, check: {} } }],
              insert_permissions: [{ role: 'user', permission: { columns: '*', check: {}, backend_only: true } }],
            },
            {
              table: 'project',
              object_relationships: [relationship('owner', 'owner_id')],
              array_relationships: [many('tasks', 'task', 'project_id')],
              select_permissions: [select('user', '*')],
            },
            {
              table: 'owner',
              array_relationships: [many('projects', 'project', 'owner_id')],
              select_permissions: [select('user', ['id', 'name'])],
            },
          ],
        },
      ],
    }),
    ...DOCUMENTS,
  });
  expect(await folder.svc('deploy')).toMatchObject({ code: 0, stderr: '' });
}, 60_000);
afterAll(async () => {
  folder.remove();
  await service.stop();
});

/** Without an endpoint: from the files. */
function offline(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  return command(['schema', ...args], { cwd: folder.root, env: { SVC_GRAPHQL_DATABASE_URL: service.databaseUrl, ...env } });
}

const online = (...args: readonly string[]): Promise<Ran> => folder.svc('schema', ...args);
const SOURCES = ['--documents', 'src/**/*.graphql'];

/** Definition of one type in SDL. */
function definition(sdl: string, head: string): string {
  return new RegExp(`^${head} \\{[^}]*\\}`, 'm').exec(sdl)?.[0].replaceAll(/\s*"""[^"]*"""/g, '') ?? '';
}

describe('the whole schema', () => {
  it('has what the role sees, equal from files and from a service, each time the same', async () => {
    const [user, guest, again, fromService] = await Promise.all([
      offline(['--role', 'user']),
      offline(['--role', 'guest']),
      offline(['--role', 'user']),
      online('--role', 'user'),
    ]);
    expect(user).toMatchObject({ code: 0, stderr: '' });
    expect(validateSchema(buildSchema(user.stdout))).toEqual([]);
    expect(fromService.stdout).toBe(user.stdout);
    expect(again.stdout).toBe(user.stdout);
    expect(user.stdout).toContain('update_task_by_pk');
    expect(user.stdout).not.toContain('secret');
    expect(user.stdout).not.toContain('insert_task');
    expect(definition(guest.stdout, 'type task')).toBe('type task {\n  id: Int!\n  title: String!\n}');
    expect(guest.stdout).not.toMatch(/project|status|mutation/);
  });

  it('is the answer to an introspection query in the other format', async () => {
    const [ran, fromService, backend] = await Promise.all([
      offline(['--role', 'user', '--format', 'introspection']),
      online('--role', 'user', '--format', 'introspection'),
      online('--role', 'user', '--backend-only'),
    ]);
    const asked = await service.graphql(getIntrospectionQuery(), { role: 'user' });
    const names = (schema: IntrospectionQuery) => Object.keys(buildClientSchema(schema).getTypeMap()).sort();
    expect(names(JSON.parse(ran.stdout) as IntrospectionQuery)).toEqual(names(asked['data'] as unknown as IntrospectionQuery));
    expect(fromService.stdout).toBe(ran.stdout);
    expect(backend.stdout).toContain('insert_task_one');
    expect((await offline(['--role', 'user', '--backend-only'])).stdout).toBe(backend.stdout);
  });
});

describe('the schema for Relay clients', () => {
  it('is equal from files and from a service, whole and as the part that documents use', async () => {
    const pages =
      'query Pages($id: ID!, $after: String) { node(id: $id) { id ... on task { title } } task_connection(first: 2, after: $after) { edges { node { id } } pageInfo { endCursor } } }';
    folder.write({ 'relay/pages.graphql': pages });
    const whole = ['--role', 'user', '--relay'];
    const part = [...whole, '--documents', 'relay/*.graphql'];
    const [files, fromService, cut, cutOfService] = await Promise.all([offline(whole), online(...whole), offline(part), online(...part)]);
    rmSync(join(folder.root, 'relay'), { recursive: true });
    expect(files).toMatchObject({ code: 0, stderr: '' });
    expect(fromService.stdout).toBe(files.stdout);
    expect(validateSchema(buildSchema(files.stdout))).toEqual([]);
    expect(files.stdout).toContain('tasks_connection');
    expect(definition(files.stdout, 'interface Node')).toBe('interface Node {\n  id: ID!\n}');
    expect(cut).toMatchObject({ code: 0, stderr: '' });
    expect(cutOfService.stdout).toBe(cut.stdout);
    expect(validate(buildSchema(cut.stdout), parse(pages))).toEqual([]);
    expect(definition(cut.stdout, 'type task implements Node')).toBe('type task implements Node {\n  id: ID!\n  title: String!\n}');
  });
});

describe('the part that documents use', () => {
  it('is a schema against which they are valid, without anything else', async () => {
    const [ran, fromService] = await Promise.all([offline(['--role', 'user', ...SOURCES]), online('--role', 'user', ...SOURCES)]);
    expect(ran).toMatchObject({ code: 0, stderr: '' });
    expect(fromService.stdout).toBe(ran.stdout);
    const schema = buildSchema(ran.stdout);
    expect(validateSchema(schema)).toEqual([]);
    expect(validate(schema, parse(Object.values(DOCUMENTS).join('\n')))).toEqual([]);
    expect(definition(ran.stdout, 'type task')).toBe('type task {\n  id: Int!\n  project: project\n  status: String\n  title: String!\n}');
    expect(definition(ran.stdout, 'type project')).toBe('type project {\n  name: String!\n}');
    expect(definition(ran.stdout, 'type mutation_root')).not.toContain('update_task_many');
    expect(ran.stdout).not.toContain('subscription');
    // The literal {id: asc} needs no more.
    expect(definition(ran.stdout, 'input task_order_by')).toBe('input task_order_by {\n  id: order_by\n}');
    expect(definition(ran.stdout, 'enum order_by')).toMatch(/^enum order_by \{\s*asc\s*\}$/);
    // A variable may have every column, and those of tables one level away.
    expect(definition(ran.stdout, 'input task_bool_exp')).toContain('effort: Int_comparison_exp');
    expect(definition(ran.stdout, 'input project_bool_exp')).toContain('tasks: task_bool_exp');
    expect(ran.stdout).not.toContain('owner_bool_exp');
    expect(definition(ran.stdout, 'input task_set_input')).toBe('input task_set_input {\n  status: String\n  title: String\n}');
  });

  it('is the same for documents in code', async () => {
    const [tasks, fragments] = Object.values(DOCUMENTS);
    folder.write({
      'code/tasks.tsx': `import { gql } from 'x';\nexport const TASKS = gql\`\n${tasks}\n$\{PARTS}\`;\nexport const P = () => <p>Don't</p>;\n`,
      'code/parts.ts': `export const PARTS = graphql(\`${fragments}\`);`,
      'code/none.js': 'export const a = 1;',
      'wrong/a.ts': 'const A = gql`query A {\n  task { titel }\n}`;',
      'wrong/b.ts': 'const B = gql`query B { task { \u0024{FIELDS} } }`;',
    });
    try {
      const [expected, inCode, wrong, unknown, none] = await Promise.all(
        ['src/**/*.graphql', 'code/*', 'wrong/a.ts', 'wrong/b.ts', 'code/none.js'].map((pattern) =>
          offline(['--role', 'user', '--documents', pattern]),
        ),
      );
      expect(inCode).toMatchObject({ code: 0, stderr: '', stdout: expected?.stdout });
      expect(wrong?.stderr).toContain('wrong/a.ts:2:10: Cannot query field "titel" on type "task". Did you mean "title"?');
      expect(unknown?.stderr).toContain('wrong/b.ts:1:32: the value of the interpolation is not known here');
      expect(none).toMatchObject({ code: 2, stdout: '' });
      expect(none?.stderr).toContain('have no operation');
    } finally {
      for (const name of ['code', 'wrong']) rmSync(join(folder.root, name), { recursive: true });
    }
  });

  it('is the same from a service without the metadata API', async () => {
    const bare = await startTestService({ DATABASE_URL: service.databaseUrl, ENABLED_APIS: 'graphql' });
    try {
      const [expected, ran] = await Promise.all([
        online('--role', 'user', ...SOURCES),
        command(['schema', '--role', 'user', ...SOURCES, '--endpoint', bare.url], { cwd: folder.root }),
      ]);
      expect(ran.stderr).toContain('has no metadata API');
      expect(ran).toMatchObject({ code: 0, stdout: expected.stdout });
    } finally {
      await bare.stop();
    }
  });

  it('has as many levels of input objects as --input-depth says', async () => {
    const [none, two] = await Promise.all(['0', '2'].map((depth) => offline(['--role', 'user', ...SOURCES, '--input-depth', depth])));
    expect(none?.stdout).not.toContain('project_bool_exp');
    expect(definition(none?.stdout ?? '', 'input task_bool_exp')).toContain('_and: [task_bool_exp!]');
    expect(two?.stdout).toContain('owner: owner_bool_exp');
    for (const ran of [none, two]) expect(validate(buildSchema(ran?.stdout ?? ''), parse(Object.values(DOCUMENTS).join('\n')))).toEqual([]);
  });

  it('is written to a file, which stays as it is if nothing has changed', async () => {
    const args = ['--role', 'user', '--documents', '**/*.graphql', '--output', 'generated/schema.graphql'];
    expect(await offline(args)).toMatchObject({ code: 0, stdout: 'written generated/schema.graphql\n' });
    // The file matches the pattern, but is not a document.
    expect(await offline(args)).toMatchObject({ code: 0, stdout: 'unchanged generated/schema.graphql\n' });
    const written = readFileSync(join(folder.root, 'generated/schema.graphql'), 'utf8');
    expect(written).toBe((await offline(['--role', 'user', ...SOURCES])).stdout);
    rmSync(join(folder.root, 'generated'), { recursive: true });
  });
});

describe('errors', () => {
  it.each<[what: string, args: readonly string[], code: number, message: string | RegExp]>([
    ['an unknown role', ['--role', 'usr'], 2, 'the metadata has no role "usr", did you mean "user"?'],
    ['a missing role', [], 2, '--role is required'],
    ['a misspelt option', ['--role', 'user', '--document', 'x'], 2, 'unknown option "--document", did you mean "--documents"?'],
    ['another format', ['--role', 'user', '--format', 'json'], 2, 'expecting one of sdl, introspection'],
    ['levels without documents', ['--role', 'user', '--input-depth', '1'], 2, '--input-depth needs --documents'],
    ['levels that are no number', ['--role', 'user', ...SOURCES, '--input-depth', 'x'], 2, 'from 0 to 100'],
    [
      'a pattern without files',
      ['--role', 'user', '--documents', 'nowhere/*.graphql'],
      2,
      'no file matches --documents "nowhere/*.graphql"',
    ],
    [
      'a file of another language',
      ['--role', 'user', '--documents', 'metadata.json'],
      1,
      'metadata.json: this is neither a GraphQL file nor',
    ],
  ])('names %s', async (_, args, code, message) => {
    const ran = await offline(args);
    expect(ran.stderr).toMatch(message);
    expect(ran.code).toBe(code);
    expect(ran.stdout).toBe('');
  });

  it('names file, line and suggestion of a document that does not fit', async () => {
    folder.write({
      'bad/a.graphql': 'query A {\n  task { id titel }\n}',
      'bad/b.graphql': 'query B($w: task_bool_expr) {\n  task(wher: $w) { id project { secret } }\n}\nquery C @cachd { task { id } }',
      'bad/c.graphql': 'query D {',
      'bad/d.graphql': 'type Query { a: Int }',
    });
    const [a, b, c, d, service] = await Promise.all([
      ...['a', 'b', 'c', 'd'].map((file) => offline(['--role', 'user', '--documents', `bad/${file}.graphql`])),
      online('--role', 'user', '--documents', 'bad/a.graphql', '--json'),
    ]);
    rmSync(join(folder.root, 'bad'), { recursive: true });
    expect(a).toMatchObject({
      code: 1,
      stdout: '',
      stderr: 'error: bad/a.graphql:2:13: Cannot query field "titel" on type "task". Did you mean "title"?\n',
    });
    expect(b?.stderr).toContain('bad/b.graphql:1:13: Unknown type "task_bool_expr"');
    expect(b?.stderr).toContain('bad/b.graphql:2:8: Unknown argument "wher" on field "query_root.task". Did you mean "where"?');
    expect(b?.stderr).toContain('bad/b.graphql:2:33: Cannot query field "secret" on type "project"');
    expect(c?.stderr).toContain('bad/c.graphql:1:10: Syntax Error');
    expect(d?.stderr).toContain('bad/d.graphql:1:1: the file defines types');
    const message = 'Cannot query field "titel" on type "task". Did you mean "title"?';
    expect(service?.json).toMatchObject({ ok: false, errors: [{ file: 'bad/a.graphql', line: 2, column: 13, message }] });
  });

  it('warns of directives that the service does not know, which clients may remove', async () => {
    folder.write({ 'local/a.graphql': 'query A { task { id @client } }' });
    const ran = await offline(['--role', 'user', '--documents', 'local/*.graphql']);
    rmSync(join(folder.root, 'local'), { recursive: true });
    expect(ran.code).toBe(0);
    expect(ran.stderr).toContain('warning: local/a.graphql:1:21: Unknown directive "@client"');
  });

  it('rejects inconsistent metadata, unless that is allowed', async () => {
    const ran = await offline(['--role', 'user'], { SVC_GRAPHQL_DATABASE_URL: 'postgres://none@127.0.0.1:1/none' });
    expect(ran).toMatchObject({ code: 4, stdout: '' });
    expect(ran.stderr).toContain('read the schema from a running service with --endpoint');
    await service.sql('alter table owner rename column name to title', { check_metadata_consistency: false });
    try {
      const [refused, allowed] = await Promise.all([offline(['--role', 'user']), offline(['--role', 'user', '--allow-inconsistent'])]);
      expect(refused).toMatchObject({ code: 4, stdout: '' });
      expect(refused.stderr).toContain('error: select_permission user in table owner');
      expect(allowed.code).toBe(0);
      expect(allowed.stderr).toContain('warning: select_permission user in table owner');
    } finally {
      await service.sql('alter table owner rename column title to name', { check_metadata_consistency: false });
    }
  });
});
