import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isExpression, placedStatements } from '../../../packages/model/split-statements.ts';
import { STANDARD_LEXIS } from '../../../packages/model/sql-lexis.ts';
import {
  type ColumnDefinition,
  type Definition,
  canDefine,
  problemOf,
  qualified,
  quotedName,
  quotedText,
  readOf,
  sqlOf,
} from './definitions.ts';
import { KINDS } from './kinds.generated.ts';
import { STRUCTURES } from './structures.generated.ts';

const HOSTILE = [
  'a"b',
  "it's",
  '$1',
  '$$',
  '$tag$',
  'ünï çödé',
  '数',
  '\\',
  "\\'",
  '`',
  '{table}',
  '[x]',
  '--',
  '/*',
  ';',
  'a b',
  '$&',
  "$'",
];
/** Names of more than one character set, with everything that quotes, comments and templates use. */
const hostile = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: fc.constantFrom(...'ab\'"`$\\;-/*{}[]()\n ü数'), minLength: 1, maxLength: 12 }),
);
const table = fc.record({ schema: hostile, name: hostile });
const column: fc.Arbitrary<ColumnDefinition> = fc.record({
  name: hostile,
  type: fc.constant('text'),
  isRequired: fc.boolean(),
  isGenerated: fc.boolean(),
  default: fc.constantFrom('', "'x'", '1'),
  comment: fc.oneof(fc.constant(''), hostile),
});
const onTable = <T extends object>(rest: fc.Arbitrary<T>) => fc.tuple(table, rest).map(([name, more]) => ({ table: name, ...more }));
const actions = fc.constantFrom('', 'cascade');
const definition = fc.oneof(
  onTable(
    fc.record({
      kind: fc.constant('create-table'),
      columns: fc.array(column, { minLength: 1, maxLength: 3 }),
      primaryKey: fc.array(hostile, { maxLength: 2 }),
      comment: hostile,
    }),
  ),
  onTable(fc.record({ kind: fc.constantFrom('rename-table'), to: hostile })),
  onTable(fc.record({ kind: fc.constantFrom('comment-table'), comment: hostile })),
  onTable(fc.record({ kind: fc.constant('add-column'), column })),
  onTable(fc.record({ kind: fc.constant('rename-column'), column: hostile, to: hostile })),
  onTable(fc.record({ kind: fc.constant('comment-column'), column: hostile, comment: hostile })),
  onTable(fc.record({ kind: fc.constantFrom('drop-column', 'drop-default', 'set-required'), column: hostile })),
  onTable(
    fc.record({
      kind: fc.constantFrom('add-unique', 'add-primary-key'),
      constraint: hostile,
      columns: fc.array(hostile, { minLength: 1 }),
    }),
  ),
  onTable(
    fc.record({
      kind: fc.constant('add-foreign-key'),
      constraint: fc.oneof(fc.constant(''), hostile),
      columns: fc.array(hostile, { minLength: 1 }),
      target: table,
      targetColumns: fc.array(hostile, { minLength: 1 }),
      onDelete: actions,
      onUpdate: actions,
    }),
  ),
  onTable(fc.record({ kind: fc.constantFrom('drop-unique', 'drop-check', 'drop-foreign-key', 'drop-primary-key'), constraint: hostile })),
  onTable(
    fc.record({
      kind: fc.constant('create-index'),
      index: hostile,
      columns: fc.array(hostile, { minLength: 1 }),
      isUnique: fc.boolean(),
      method: fc.constant(''),
      where: fc.constantFrom('', 'a > 1'),
    }),
  ),
  onTable(fc.record({ kind: fc.constant('drop-index'), index: hostile })),
  fc.record({ kind: fc.constant('create-enum'), enum: table, values: fc.array(hostile, { minLength: 1 }) }),
  fc.record({ kind: fc.constant('add-enum-value'), enum: table, value: hostile, before: fc.oneof(fc.constant(''), hostile) }),
  fc.record({ kind: fc.constant('rename-enum-value'), enum: table, value: hostile, to: hostile }),
  fc.record({ kind: fc.constant('comment-enum'), enum: table, comment: hostile }),
) as fc.Arbitrary<Definition>;

const BOOKS = { schema: 'public', name: 'book' };
const NAME: ColumnDefinition = { name: 'name', type: 'text', isRequired: true, isGenerated: false, default: '', comment: '' };

describe.each(Object.entries(STRUCTURES))('definitions of %s', (kind, form) => {
  const lexis = KINDS[kind]?.lexis;
  if (lexis === undefined) throw new Error(`no form for ${kind}`);

  it('quotes hostile names and texts so that they stay one token', () => {
    const { quotes } = form;
    fc.assert(
      fc.property(hostile, hostile, (schema, name) => {
        const quoted = quotedName(name, quotes);
        expect(quoted.slice(1, -1).replaceAll(quotes.name + quotes.name, quotes.name)).toBe(name);
        for (const sql of [quoted, quotedText(name, quotes), qualified({ schema, name }, quotes)])
          expect(isExpression(sql, lexis)).toBe(true);
      }),
    );
  });

  it('writes one statement for each definition, whatever the names are', () => {
    fc.assert(
      fc.property(definition, (each) => {
        fc.pre(canDefine(form, each.kind));
        const statements = placedStatements(sqlOf([each], form), lexis);
        const [first, ...comments] = statements;
        const verb = /^(\w+)/.exec(form.definitions[each.kind] ?? '')?.[1];
        expect(first?.word).toBe(verb);
        expect(comments.every(({ word }) => word === 'comment')).toBe(true);
        if (each.kind !== 'create-table' && each.kind !== 'add-column') expect(comments).toEqual([]);
      }),
    );
  });

  it('reads the structure of a table with a hostile name by one query', () => {
    fc.assert(
      fc.property(table, hostile, hostile, (name, column, type) => {
        for (const read of Object.values(form.reads))
          expect(placedStatements(readOf(read, name, form, { column, type }), lexis)).toHaveLength(1);
      }),
    );
  });
});

describe('definitions', () => {
  const form = Object.values(STRUCTURES).find(({ quotes }) => quotes.name === '"');
  const ticked = Object.values(STRUCTURES).find(({ quotes }) => quotes.name === '`');
  if (form === undefined || ticked === undefined) throw new Error('a form is missing');
  const create: Definition = {
    kind: 'create-table',
    table: BOOKS,
    columns: [
      { ...NAME, name: 'id', type: 'bigint', isGenerated: true },
      { ...NAME, default: "''", comment: 'Title' },
    ],
    primaryKey: ['id'],
    comment: "Ann's",
  };

  it('creates a table with its comments', () => {
    expect(sqlOf([create], form)).toBe(`create table "public"."book" (
  "id" bigint generated by default as identity not null,
  "name" text default '' not null,
  primary key ("id")
);
comment on table "public"."book" is 'Ann''s';
comment on column "public"."book"."name" is 'Title';
`);
    expect(sqlOf([create], ticked)).toBe(`create table \`public\`.\`book\` (
  \`id\` bigint not null auto_increment,
  \`name\` text not null default '' comment 'Title',
  primary key (\`id\`)
) comment = 'Ann''s';
`);
  });

  it('leaves out optional parts without a value', () => {
    const index = { kind: 'create-index', table: BOOKS, index: '', columns: ['a', 'b'], isUnique: false, method: '', where: '' } as const;
    expect(sqlOf([index], form)).toBe('create index on "public"."book" ("a", "b");\n');
    expect(sqlOf([{ ...index, index: 'i', isUnique: true, method: 'gin', where: 'a > 1' }], form)).toBe(
      'create unique index "i" on "public"."book" using gin ("a", "b") where a > 1;\n',
    );
    expect(
      sqlOf(
        [
          {
            kind: 'set-type',
            table: BOOKS,
            column: 'a',
            type: 'text[]',
            using: 'array[a]',
            rest: { attributes: '', check: '', default: '', comment: '' },
          },
        ],
        form,
      ),
    ).toBe('alter table "public"."book" alter column "a" type text[] using array[a];\n');
  });

  it('uses the current schema for names without one', () => {
    expect(readOf('{schema} {name}', { schema: '', name: "o'" }, ticked)).toBe("database() 'o'''");
    expect(sqlOf([{ kind: 'drop-table', table: { schema: '', name: 'a`b' } }], ticked)).toBe('drop table `a``b`;\n');
  });

  it.each([
    ["'a'); drop table b; --", 'The default is not'],
    ['1 -- one', 'The default is not'],
    ["'open", 'The default is not'],
    ['1) + (2', 'The default is not'],
    ['f((1)', 'The default is not'],
    ['1;', 'The default is not'],
    [' ', 'The default is not'],
    ['$x$ open', 'The default is not'],
    ["f('(;--', $x$;$x$) /* one */", undefined],
  ])('checks the expression %s', (sql, problem) => {
    const found = problemOf([{ kind: 'set-default', table: BOOKS, column: 'a', default: sql }], STANDARD_LEXIS);
    if (problem === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(problem);
  });

  it('refuses empty names', () => {
    expect(problemOf([{ ...create, table: { schema: 'public', name: '' } }], STANDARD_LEXIS)).toBe('Enter all names');
    expect(problemOf([{ kind: 'add-column', table: BOOKS, column: { ...NAME, name: '' } }], STANDARD_LEXIS)).toBe('Enter all names');
    expect(problemOf([create], STANDARD_LEXIS)).toBeUndefined();
  });
});
