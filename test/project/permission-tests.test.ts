/** `svc permissions test`: order of lists, messages, rejected files, `--filter` and `--watch`. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { command, type Ran } from '../support/command.ts';
import { runService } from '../support/process.ts';
import { OWN_DATABASE, type ProjectFolder, projectFolder } from '../support/project-folder.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { hasTerminal, onTerminal } from '../support/terminal.ts';
import { WAIT } from '../support/wait.ts';

let service: TestService;
let project: ProjectFolder;

const tables = (columns: string): string => `- name: default
  kind: postgres
  ${OWN_DATABASE}
  tables:
    - table: {schema: public, name: author}
      array_relationships: [{name: articles, using: {foreign_key_constraint_on: {column: author_id, table: {schema: public, name: article}}}}]
      select_permissions: [{role: reader, permission: {columns: ${columns}, filter: {}}}]
    - table: {schema: public, name: article}
      select_permissions: [{role: reader, permission: {columns: '*', filter: {}, allow_aggregations: true}}]
      insert_permissions: [{role: reader, permission: {columns: '*', check: {}, backend_only: true}}]
`;

beforeAll(async () => {
  service = await startTestService();
  project = projectFolder(service);
  await service.sql(`
    create table author (id int primary key, name text not null, tags jsonb not null);
    create table article (id int primary key, author_id int not null references author, title text not null);
    insert into author values (1, 'Ann', '["a", "b"]'), (2, 'Bob', '{"roles": ["x", "y"]}');
    insert into article values (1, 1, 'One'), (2, 1, 'Two'), (3, 2, 'Three')`);
  project.write({ 'config.yaml': 'version: 3\n', 'metadata/databases/databases.yaml': tables(`'*'`) });
  expect((await project.svc('metadata', 'apply')).code).toBe(0);
});
afterAll(async () => {
  await service.stop();
  project.remove();
});

/** Runs tests, each with its name, query, expected data and variables. @returns the names of those that fail */
async function failing(tests: readonly (readonly [string, string, string, string?])[]): Promise<readonly string[]> {
  const texts = tests.map(
    ([name, query, data, variables = '{}']) =>
      `- name: ${name}\n  as: {role: reader}\n  query: '${query}'\n  variables: ${variables}\n  expect: {data: ${data}}\n`,
  );
  project.write({ 'lists.yaml': texts.join('') });
  const { stdout } = await project.svc('permissions', 'test', 'lists.yaml');
  expect(stdout).toContain(`1..${tests.length}\n`);
  return [...stdout.matchAll(/^not ok \d+ - (.*)$/gm)].map(([, name = '']) => name);
}

const authors = '{author: [{id: 2}, {id: 1}]}';
const nested = '{author: [{name: Bob, articles: [{id: 3}]}, {name: Ann, articles: [{id: 2}, {id: 1}]}]}';
const nodes = '{article_aggregate: {nodes: [{id: 3}, {id: 1}, {id: 2}]}}';

it('compares lists of fields without order_by without order', async () => {
  const failed = await failing([
    ['a list', '{ author { id } }', authors],
    ['nested lists', '{ author { name articles { id } } }', nested],
    ['lists of fragments', 'query { ...f } fragment f on query_root { author { name ... on author { articles { id } } } }', nested],
    ['a list with an alias', '{ all: author { id } }', '{all: [{id: 2}, {id: 1}]}'],
    ['a list with an empty order_by', '{ author(order_by: []) { id } }', authors],
    ['a list with a variable that has no value', 'query ($o: [author_order_by!]) { author(order_by: $o) { id } }', authors],
    ['nodes of an aggregate', '{ article_aggregate { nodes { id } } }', nodes],
    ['lists below an ordered one', '{ author(order_by: {id: desc}) { name articles { id } } }', nested],
    ['equal items', '{ article { author_id } }', '{article: [{author_id: 1}, {author_id: 2}, {author_id: 1}]}'],
  ]);
  expect(failed).toEqual([]);
});

it('compares lists with order_by, and lists in values, with order', async () => {
  const tests = [
    ['a list', '{ author(order_by: {id: asc}) { id } }', authors],
    ['a nested list', '{ author { name articles(order_by: {id: asc}) { id } } }', nested],
    ['a list with a variable', 'query ($o: [author_order_by!]) { author(order_by: $o) { id } }', authors, '{o: {id: asc}}'],
    ['a list with a default', 'query ($o: [author_order_by!] = {id: asc}) { author(order_by: $o) { id } }', authors],
    ['nodes of an aggregate', '{ article_aggregate(order_by: {id: asc}) { nodes { id } } }', nodes],
    ['a list in a JSON column', '{ author(where: {id: {_eq: 1}}) { tags } }', '{author: [{tags: [b, a]}]}'],
    ['a list in an object of a JSON column', '{ author(where: {id: {_eq: 2}}) { tags } }', '{author: [{tags: {roles: ["y", x]}}]}'],
    ['other numbers of equal items', '{ article { author_id } }', '{article: [{author_id: 1}, {author_id: 2}, {author_id: 2}]}'],
    ['a missing item', '{ article { author_id } }', '{article: [{author_id: 1}, {author_id: 2}]}'],
  ] as const;
  expect(await failing(tests)).toEqual(tests.map(([name]) => name));
});

it('shows place, name, role and difference of each failure in one form', async () => {
  project.write({
    'wrong.yaml': `- name: sees both
  as: {role: reader}
  query: '{ author { id name } }'
  expect: {data: {author: [{id: 2, name: Bob}, {id: 1, name: Anna}]}}
- name: counts
  as: {role: reader}
  query: '{ author { id } }'
  expect: {rows: 3, ids: [2, 1]}
- name: is refused
  as: {role: reader}
  query: 'mutation { delete_author(where: {}) { affected_rows } }'
  expect: {error: permission-error}
- as: {role: reader}
  query: '{ author(limit: 1, order_by: {id: asc}) { id } }'
  expect: {denied: true}
`,
  });
  const [tap, junit] = await Promise.all([
    project.svc('permissions', 'test', 'wrong.yaml'),
    project.svc('permissions', 'test', 'wrong.yaml', '--reporter', 'junit'),
  ]);
  expect(tap.stdout).toBe('1..4\nnot ok 1 - sees both\nnot ok 2 - counts\nnot ok 3 - is refused\nnot ok 4 - wrong.yaml\\#4\n');
  expect(tap.stderr).toBe(`error: wrong.yaml:1:3: sees both (role reader): unexpected data
  - expected
  + received
    …
          {
            "id": 2,
            "name": "Bob"
          },
          {
            "id": 1,
  -         "name": "Anna"
  +         "name": "Ann"
          }
        ]
      }
    }
error: wrong.yaml:5:3: counts (role reader): unexpected rows
  - expected
  + received
    {
  -   "rows": 3
  +   "rows": 2,
  +   "data": {
  +     "author": [
  +       {
  +         "id": 1
  +       },
  +       {
  +         "id": 2
  +       }
  +     ]
  +   }
    }
error: wrong.yaml:9:3: is refused (role reader): unexpected error
  - expected
  + received
    {
  -   "error": "permission-error"
  +   "error": "validation-failed",
  +   "errors": [
  +     {
  +       "code": "validation-failed",
  +       "message": "no mutations exist"
  +     }
  +   ]
    }
error: wrong.yaml:13:3: wrong.yaml#4 (role reader): unexpected denied
  - expected
  + received
    {
  -   "denied": true
  +   "denied": false,
  +   "data": {
  +     "author": [
  +       {
  +         "id": 1
  +       }
  +     ]
  +   }
    }
`);
  const messages = tap.stderr.split(/^error: /m).slice(1);
  for (const message of messages) {
    const text = message.trimEnd().replaceAll('"', '&quot;');
    expect(junit.stdout).toContain(`">${text}</failure>`);
  }
  expect(junit.stdout).toContain('name="counts" file="wrong.yaml" line="5"');
  expect(junit.stdout).toContain('message="counts (role reader): unexpected rows"');
});

it('rejects invalid tests with their places, before any test runs', async () => {
  project.write({
    'shape.yaml': `- {name: a, as: {role: reader}, query: '{ author { id } }', expect: {rows: 2}}
- name: b
  as: {role: reader}
  query: '{ author { id } }'
  expect: {row: 2}
`,
    'empty.yaml': `- {name: c, as: {role: reader}, query: '{ author { id } }', expect: {}}\n`,
  });
  const { code, json } = await project.svc('permissions', 'test', 'shape.yaml', 'empty.yaml', '--json');
  expect(code).toBe(1);
  expect(json['errors']).toMatchObject([
    { file: 'shape.yaml', line: 5, message: 'expect has no key "row": expecting data, error, denied, rows, ids' },
    { file: 'empty.yaml', line: 1, message: 'expect needs at least one of data, error, denied, rows, ids' },
  ]);
});

it('runs only the tests that --filter names, without the setup of other files', async () => {
  project.write({
    'a.yaml': `setup: create table left_behind ()
tests:
  - {name: other, as: {role: reader}, query: '{ author { id } }', expect: {rows: 2}}
`,
    'b.yaml': `- {name: Reads authors, as: {role: reader}, query: '{ author { id } }', expect: {rows: 2}}
- {name: reads articles, as: {role: reader}, query: '{ article { id } }', expect: {rows: 3}}
`,
  });
  const run = (...args: string[]) => project.svc('permissions', 'test', 'a.yaml', 'b.yaml', ...args);
  const [some, json, none] = await Promise.all([
    run('--filter', 'reads AUTH'),
    run('--filter', 'reads', '--json'),
    run('--filter', 'nothing of it'),
  ]);
  expect(some).toMatchObject({ code: 0, stdout: '1..1\nok 1 - Reads authors\n', stderr: '2 tests skipped by --filter\n' });
  expect(json.json).toMatchObject({ ok: true, tests: 2, filtered: 1 });
  expect(none).toMatchObject({
    code: 2,
    stderr: 'error: no name of a test contains "nothing of it" (3 tests in a.yaml, b.yaml)\n',
  });
  expect(await service.sql(`select to_regclass('left_behind')::text`)).toMatchObject({ result: [['to_regclass'], ['NULL']] });
});

/** One test that passes. */
const passing = (name: string): string => `- {name: ${name}, as: {role: reader}, query: '{ author { id } }', expect: {rows: 2}}\n`;

it('runs no teardown after a failed setup, and shows the reason of the database', async () => {
  await service.sql('create table precious (id int)');
  const suite = (setup: string, teardown: string): string => `tests:\n  ${passing('a')}setup: ${setup}\nteardown: ${teardown}\n`;
  project.write({
    'setup.yaml': suite('create table own (); create table precious (id int)', 'drop table precious'),
    'commit.yaml': suite('create table kept (); commit; create table precious (id int)', 'drop table precious'),
    'teardown.yaml': suite('create table undone ()', 'drop table undone, missing'),
    'other.yaml': passing('b'),
  });
  const files = ['setup.yaml', 'commit.yaml', 'teardown.yaml', 'other.yaml'];
  const { code, stdout, stderr } = await project.svc('permissions', 'test', ...files);
  expect(stderr).toBe(`error: setup.yaml:3:1: setup: relation "precious" already exists
  The setup was rolled back, so neither the tests nor the teardown of this file run
error: commit.yaml:3:1: setup: relation "precious" already exists
  What the setup committed before stays, and neither the tests nor the teardown of this file run
error: teardown.yaml:4:1: teardown: table "missing" does not exist
  What setup and tests of this file wrote may stay
`);
  expect(stdout).toBe(`1..7
not ok 1 - setup
ok 2 - a # SKIP the setup failed
not ok 3 - setup
ok 4 - a # SKIP the setup failed
ok 5 - a
not ok 6 - teardown
ok 7 - b
`);
  expect(code).toBe(1);
  const left = await service.sql(
    `select string_agg(relname, ' ' order by relname) from pg_class where relname in ('precious', 'own', 'kept', 'undone')`,
  );
  expect(left).toMatchObject({ result: [['string_agg'], ['kept precious undone']] });
});

it('rejects roles, secrets and other names that are not session variables under session', async () => {
  const complaints: readonly (readonly [string, string])[] = [
    ['{role: admin}', 'the session cannot set "role": write the role as as: {role}'],
    ['{X-Svc-ROLE: admin}', 'the session cannot set "X-Svc-ROLE": write the role as as: {role}'],
    ['{admin-secret: a}', '"admin-secret" is not a session variable'],
    ['{x-svc-Access-Key: a}', '"x-svc-Access-Key" is not a session variable'],
    [
      '{use-backend-only-permissions: true}',
      '"use-backend-only-permissions" is not a session variable: write as: {role, backend_only: true}',
    ],
    ['{x-hasura-role: admin}', '"x-hasura-role" is not a session variable: remove "x-hasura-"'],
    ['{"role ": admin}', '"role " is not a session variable'],
    ['{"": a}', '"" is not a session variable'],
    ['{user-id: 1, x-svc-User-Id: 2}', 'the session has "x-svc-user-id" twice'],
  ];
  const test = (as: string): string => `- query: '{ author { id } }'\n  expect: {rows: 0}\n  as:\n    ${as}\n`;
  const files = Object.fromEntries(complaints.map(([session], i) => [`session-${i}.yaml`, test(`{role: reader, session: ${session}}`)]));
  project.write({ ...files, 'empty-role.yaml': test(`{role: ''}`), 'misspelled.yaml': test('{role: reader, sesion: {user-id: 1}}') });
  const { code, json } = await project.svc('permissions', 'test', ...Object.keys(files), 'empty-role.yaml', 'misspelled.yaml', '--json');
  expect(code).toBe(1);
  expect(json['errors']).toMatchObject([
    ...complaints.map(([, message], i) => ({ file: `session-${i}.yaml`, line: 4, message })),
    { file: 'empty-role.yaml', line: 4, message: '"role" must not be empty' },
    { file: 'misspelled.yaml', line: 4, message: 'as has no key "sesion": expecting role, session, backend_only' },
  ]);
});

it('sends backend_only of a test', async () => {
  const test = (as: string, type: string): string =>
    `- {as: ${as}, query: '{ __type(name: "mutation_root") { name } }', expect: {data: {__type: ${type}}}}\n`;
  project.write({
    'backend.yaml': test('{role: reader, backend_only: true}', '{name: mutation_root}') + test('{role: reader}', 'null'),
  });
  expect(await project.svc('permissions', 'test', 'backend.yaml')).toMatchObject({ code: 0, stderr: '' });
});

it('reports a value that no header can have as an error of its test, and runs the others', async () => {
  const flawed = (value: string): string =>
    `- as:\n    role: reader\n    session:\n      user-id: ${value}\n  query: '{ author { id } }'\n  expect: {rows: 2}\n`;
  project.write({
    'values.yaml': ['"1\\r\\nx-svc-role: admin"', '"\\u0007"', '漢', '" 1"', '[1]', 'Zoë'].map(flawed).join('') + passing('last'),
    'role.yaml': `- {as: {role: ' admin'}, query: '{ author { id } }', expect: {rows: 2}}\n`,
  });
  const { code, stdout, stderr } = await project.svc('permissions', 'test', 'values.yaml', 'role.yaml');
  const error = (test: number, place: string, reason: string): string =>
    `error: values.yaml:${place}: values.yaml#${test} (role reader): the session variable "user-id" cannot be sent: ${reason}\n`;
  expect(stderr).toBe(
    [
      error(1, '4:7', 'its value has a line break'),
      error(2, '10:7', 'its value has a control character'),
      error(3, '16:7', 'its value has characters outside of Latin-1, which no header can have'),
      error(4, '22:7', 'its value begins or ends with a space, which a header loses'),
      error(5, '28:16', 'its value must be a text, a number or a boolean'),
      'error: role.yaml:1:9: role.yaml#1 (role  admin): the role cannot be sent: its value begins or ends with a space, which a header loses\n',
    ].join(''),
  );
  expect(stdout.match(/^ok .*/gm)).toEqual(['ok 6 - values.yaml\\#6', 'ok 7 - last']);
  expect(code).toBe(1);
});

it('escapes control characters of names, and what TAP reads as a directive', async () => {
  const names = ['a\nok 99 - fake\u2028ok', 'b # SKIP no', 'c \\ d', 'e\u001b[2J\r\n'];
  const tests = names.map((name) => ({ name, as: { role: 'reader' }, query: '{ author { id } }', expect: { rows: 9 } }));
  project.write({ 'names.yaml': JSON.stringify(tests) });
  const [tap, junit] = await Promise.all([
    project.svc('permissions', 'test', 'names.yaml'),
    project.svc('permissions', 'test', 'names.yaml', '--reporter', 'junit'),
  ]);
  expect(tap.stdout).toBe(String.raw`1..4
not ok 1 - a\\u000aok 99 - fake\\u2028ok
not ok 2 - b \# SKIP no
not ok 3 - c \\ d
not ok 4 - e\\u001b[2J\\u000d\\u000a
`);
  expect(tap.stderr.match(/^error: .*/gm)?.map((line) => line.replace(/^.*?:1:\d+: /, ''))).toEqual(
    [String.raw`a\u000aok 99 - fake\u2028ok`, 'b # SKIP no', String.raw`c \ d`, String.raw`e\u001b[2J\u000d\u000a`].map(
      (name) => `${name} (role reader): unexpected rows`,
    ),
  );
  expect(junit.stdout).toContain(String.raw`name="a\u000aok 99 - fake\u2028ok"`);
  expect(junit.stdout).toContain(String.raw`name="e\u001b[2J\u000d\u000a"`);
});

it('ends with an error if there is no test', async () => {
  project.write({ 'list.yaml': '[]\n', 'suite.yaml': 'setup: create table left_behind ()\ntests: []\n', 'b.yaml': passing('b') });
  const [none, filtered, some] = await Promise.all([
    project.svc('permissions', 'test', 'list.yaml', 'suite.yaml'),
    project.svc('permissions', 'test', 'list.yaml', '--filter', 'a'),
    project.svc('permissions', 'test', 'list.yaml', 'b.yaml'),
  ]);
  expect(none).toMatchObject({ code: 1, stdout: '', stderr: 'error: there are no tests in list.yaml, suite.yaml\n' });
  expect(filtered).toMatchObject({ code: 2, stderr: 'error: no name of a test contains "a" (0 tests in list.yaml)\n' });
  expect(some).toMatchObject({ code: 0, stdout: '1..1\nok 1 - b\n' });
  expect(await service.sql(`select to_regclass('left_behind')::text`)).toMatchObject({ result: [['to_regclass'], ['NULL']] });
});

it('runs the tests again with --watch when tests, metadata or migrations change, and ends with Ctrl-C', async () => {
  const test = (rows: number): string =>
    `- {name: 'has ${rows} rows', as: {role: reader}, query: '{ author { id name } }', expect: {rows: ${rows}}}\n`;
  project.write({ 'tests/permissions/author.yaml': test(3) });
  const watching = runService(['permissions', 'test', '--watch', '--project', project.root, '--endpoint', service.url]);
  try {
    await watching.find(/not ok 1 - has 3 rows\nerror: tests\/permissions\/author.yaml:1:3: has 3 rows \(role reader\): unexpected rows\n/);
    await watching.find(/^waiting for changes/m);
    project.write({ 'tests/permissions/author.yaml': test(2) });
    await watching.find(/^ok 1 - has 2 rows\n(?:.*\n)*waiting/m);
    project.write({ 'tests/permissions/author.yaml': test(2).replace('rows:', '"\\e[2J":') });
    await watching.find(/^error: tests\/permissions\/author.yaml:1:\d+: expect has no key "\\u001b\[2J": /m);
    project.write({ 'tests/permissions/author.yaml': test(2) });
    await watching.find(/(?:^ok 1 - has 2 rows\n[\s\S]*){2}waiting/m);
    // Runs once the service has the new metadata.
    project.write({ 'metadata/databases/databases.yaml': tables('[id]') });
    expect((await project.svc('metadata', 'apply')).code).toBe(0);
    await watching.find(/^ {2}\+ {7}"message": "field 'name' not found/m);
    project.write({ 'migrations/default/1_more/up.sql': `insert into author values (3, 'Cid', '[]')` });
    await watching.find(/the service does not have the metadata and migrations of the files/);
  } finally {
    await watching.stop('SIGINT');
  }
  expect(await watching.ended).toBe(0);
  const refused = await project.svc('permissions', 'test', '--watch', '--json');
  expect(refused).toMatchObject({ code: 2, json: { errors: [{ code: 'usage' }] } });
});

describe('against an environment with an endpoint of its own', () => {
  const words = ['permissions', 'test', 'writes.yaml', '--env', 'production'];
  const run = (...args: string[]): Promise<Ran> => command([...words, ...args], { cwd: project.root });
  const isSetUp = async (): Promise<boolean> => JSON.stringify(await service.sql('select * from author where id = 9')).includes('Set up');
  beforeAll(() => {
    const test = (query: string, expected: string): string => `{name: t, as: {role: reader}, query: '${query}', expect: ${expected}}`;
    const [reads, writes] = [
      test('{ author { id } }', '{rows: 2}'),
      test('mutation M { delete_author(where: {}) { affected_rows } }', '{denied: true}'),
    ];
    project.write({
      'config.yaml': `version: 3\nenvironments: {production: {endpoint: "${service.url}"}, local: {}}\n`,
      'reads.yaml': `- ${reads}\n`,
      'writes.yaml': `setup: insert into author values (9, 'Set up', '[]')\ntests: [${writes}]\n`,
    });
  });

  it('runs tests that write only after a confirmation', async () => {
    const refused = await run();
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toBe(
      `error: The tests write to the databases of ${service.url} (environment production), and nothing is rolled back: SQL of setup or teardown in writes.yaml, 1 mutation in writes.yaml. Confirm it with --yes.\n`,
    );
    expect((await run('--watch')).stderr).toContain('Confirm it with --yes.');
    expect(await isSetUp()).toBe(false);
    expect((await command(['permissions', 'test', 'reads.yaml', '--env', 'production'], { cwd: project.root })).code).toBe(0);
    expect(await run('--yes')).toMatchObject({ code: 0, stderr: '' });
    expect(await isSetUp()).toBe(true);
    await service.sql('delete from author where id = 9');
  });

  it.runIf(hasTerminal)('asks on a terminal', async () => {
    const terminal = onTerminal(words.join(' '), { cwd: project.root });
    await expect.poll(terminal.shown, WAIT).toContain('[y/N]');
    terminal.type('n\n');
    expect(await terminal.ended).toContain('no test was run');
    expect(await isSetUp()).toBe(false);
  });
});
