import { expect, it } from 'vitest';
import { migrations } from './index.ts';

const scanSql = migrations.scan;

it.each([
  ['plain', 'create table a (id int); commit; drop table a;'],
  ['behind a comment', 'create table a (id int); /* done */ commit; drop table a;'],
  ['behind comments that nest', 'create table a (id int); /* /* done */ */ commit; drop table a;'],
  ['behind a comment that a carriage return ends', 'create table a (id int); -- done\rcommit; drop table a;'],
  ['before a comment', 'create table a (id int); commit/* /* */ */; drop table a;'],
])('finds the end of a transaction: %s', (_, sql) => {
  expect(scanSql(sql).control.map(({ words }) => words)).toEqual([['commit']]);
});

it('removes transaction control from SQL that runs in a transaction', () => {
  const own = 'set a = 1;\nbegin;\nselect 1;\ncommit; begin transaction ;\nselect 2; -- ;\nend;';
  expect(scanSql(own)).toMatchObject({
    unwrapped: undefined,
    joined: own.replace('begin;', '      ').replace('commit; begin transaction ;', ' '.repeat(27)).replace('-- ;\nend;', '    \n    '),
  });
  expect(scanSql('begin; select 1; commit').unwrapped).toBe('       select 1;       ');
  for (const other of ['begin; select 1; rollback;', 'begin isolation level serializable; commit'])
    expect(scanSql(other)).toMatchObject({ unwrapped: undefined, joined: undefined });
  expect(scanSql('select 1').joined).toBe('select 1');
  // A comment that reads like a statement is not one, even if it is alone between two semicolons.
  expect(scanSql('begin; select 1; /* commit */; commit;').joined).toBe('       select 1; /* commit */;        ');
  expect(scanSql('begin; set local role x; commit; select 1').joined).toBeUndefined();
  expect(scanSql('set local role x; select 1').joined).toBe('set local role x; select 1');
  expect(scanSql('begin; rollback work to a; rollback transaction to savepoint a; commit').unwrapped).toBeDefined();
});

it('finds commands that only psql supports', () => {
  const { foreign } = scanSql('--\n-- Data\n--\n\nCOPY public.a (id) FROM stdin;\n1\n\\.\n\\restrict x\n');
  expect(foreign).toEqual([
    { line: 7, what: '\\.', client: 'psql' },
    { line: 8, what: '\\restrict', client: 'psql' },
    { line: 5, what: 'copy from stdin', client: 'psql' },
  ]);
});

it('finds no commands in literals and comments', () => {
  const sql = [
    "select '\n\\a';",
    'select $$\n\\b$$, $x$\n$$\\c\n\\d $x$;',
    '/*\n\\e */',
    '\\f',
    "select $y$ '\n\\g\n' $y$;",
    "select 'it''s\n\\h';",
    "select E'it\\'s\n\\i', 1 as \"a'\n\\j\";",
    "-- don't",
    '\\k',
    '/* a /* b */\n\\l */',
  ].join('\n');
  expect(scanSql(sql).foreign.map(({ what, line }) => [what, line])).toEqual([
    ['\\f', 9],
    ['\\k', 19],
  ]);
});

it('reports added enum values that later statements use', () => {
  const values = (...statements: readonly string[]) => scanSql(statements.join(';\n')).enumValues;
  const add = "alter type mood add value if not exists 'it''s'";
  expect(values(add, "insert into a values ('x', 'it''s')")).toEqual([{ line: 1, value: "it''s" }]);
  expect(values("insert into a values ('it''s')", add)).toEqual([]);
  expect(values(add, "insert into a values ('its')", "alter type other add value 'it''s'")).toEqual([]);
});

/** With a second pass for each part, these would take minutes. */
it('reads each part of long files once', () => {
  const added = Array.from({ length: 20_000 }, (_, i) => `alter type mood add value 'value ${i}';\n`).join('');
  expect(scanSql(`${added}select 'value 19998';`).enumValues).toEqual([{ line: 19_999, value: 'value 19998' }]);
  const open = Array.from({ length: 30_000 }, (_, i) => `$a${i}$/*`).join('');
  expect(scanSql(`${'\\x\n'.repeat(50_000)}${open}`).foreign).toHaveLength(50_000);
});

it.each([
  'alter table a detach partition "my part" concurrently',
  'alter table a detach partition /* old */ s.part concurrently',
  `create /* ${'long '.repeat(100)} */ index concurrently on a (id)`,
  'reindex (concurrently) table a',
  'reindex(verbose, concurrently) table a',
  'cluster verbose',
  'alter database "my db" set tablespace fast',
])('finds a statement that cannot run in a transaction: %.60s', (sql) => {
  expect(scanSql(sql).outside).toHaveLength(1);
});

it.each([
  "alter table a alter b set default 'detach partition p concurrently'",
  'reindex (concurrently false) table a',
  'cluster a',
  "copy a from '/file' -- from stdin",
])('accepts a statement that can run in a transaction: %s', (sql) => {
  expect(scanSql(sql)).toMatchObject({ outside: [], foreign: [] });
});
