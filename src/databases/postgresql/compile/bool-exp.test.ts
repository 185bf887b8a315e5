import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type BlogDatabase, blogDatabase } from '../../../../test/support/blog-database.ts';
import {
  all,
  any,
  by,
  call,
  column,
  compare,
  exists,
  field,
  int,
  joined,
  literal,
  operand,
  related,
  rows,
  table,
  text,
  type,
  variable,
} from '../../../../test/support/ir.ts';
import type { Values } from '../../../../test/support/run-select.ts';
import { type BoolExp, FALSE, type Read, TRUE } from '../../../ir/bool-exp.ts';
import type { Json } from '../../../util/json.ts';
import { compiler } from './compiler.ts';
import { createContext } from './context.ts';
import { ownScope, aliasRow } from '../../shared/row.ts';
import { conditionSql } from './bool-exp.ts';
import { dialect } from './dialect.ts';
import { identifier, print } from '../../../sql/fragment.ts';

let blog: BlogDatabase;
beforeAll(async () => {
  blog = await blogDatabase();
});
afterAll(() => blog.close());

async function ids(of: 'author' | 'article', where: BoolExp, values?: Values): Promise<number[]> {
  const found = await blog.one(rows(table(of), [field('id')], { where, orderBy: [by(column('id'))] }), values);
  return (found as { id: number }[]).map((row) => row.id);
}

const id = column('id');
const name = column('name', text);
const country = column('country', text);
const title = column('title', text);
const ofAuthor = joined('author_id', 'id', true);
const itsArticles = joined('id', 'author_id', false);
const not = (item: BoolExp): BoolExp => ({ kind: 'not', item });

describe('logic', () => {
  test('compiles constants and empty and, or and not', async () => {
    expect(await ids('author', TRUE)).toEqual([1, 2, 3, 4]);
    expect(await ids('author', FALSE)).toEqual([]);
    expect(await ids('author', all())).toEqual([1, 2, 3, 4]);
    expect(await ids('author', any())).toEqual([]);
    expect(await ids('author', not(all()))).toEqual([]);
  });

  test('preserves the precedence of nested and, or and not', async () => {
    const one = compare(id, '_eq', 1);
    const dutch = compare(country, '_eq', 'NL');
    expect(await ids('author', all(any(one, compare(id, '_eq', 4)), dutch))).toEqual([1]);
    expect(await ids('author', any(all(one, FALSE), compare(id, '_eq', 4)))).toEqual([4]);
    expect(await ids('author', not(any(one, compare(id, '_eq', 4))))).toEqual([2, 3]);
  });

  test('treats a comparison with NULL as unknown', async () => {
    expect(await ids('author', compare(country, '_eq', 'NL'))).toEqual([1, 2]);
    expect(await ids('author', not(compare(country, '_eq', 'NL')))).toEqual([4]);
    expect(await ids('author', compare(country, '_neq', 'NL'))).toEqual([4]);
    expect(await ids('author', compare(country, '_eq', variable('c')), { variables: {} })).toEqual([]);
  });

  test('compiles null checks', async () => {
    expect(await ids('author', { kind: 'is-null', left: country, isNull: true })).toEqual([3]);
    expect(await ids('author', { kind: 'is-null', left: country, isNull: false })).toEqual([1, 2, 4]);
  });
});

describe('null-safe equality', () => {
  const safe = (operator: string, value: Json | ReturnType<typeof variable>) => compare(country, operator, value, text, false, true);

  test('compares literals null-safely', async () => {
    expect(await ids('author', safe('_eq', 'NL'))).toEqual([1, 2]);
    expect(await ids('author', safe('_neq', 'NL'))).toEqual([3, 4]);
    expect(await ids('author', safe('_eq', literal(null) as never))).toEqual([3]);
    expect(await ids('author', safe('_neq', literal(null) as never))).toEqual([1, 2, 4]);
  });

  test('compares variables null-safely', async () => {
    expect(await ids('author', safe('_eq', variable('c')), { variables: { c: null } })).toEqual([3]);
    expect(await ids('author', safe('_neq', variable('c')), { variables: { c: null } })).toEqual([1, 2, 4]);
    expect(await ids('author', safe('_eq', variable('c')), { variables: { c: 'NL' } })).toEqual([1, 2]);
    expect(await ids('author', safe('_neq', variable('c')), { variables: { c: 'NL' } })).toEqual([3, 4]);
  });

  test('compiles a literal to the plain form, which can use an index', () => {
    const query = rows(table('author'), [field('id')], { where: safe('_eq', 'NL') });
    expect(compiler({ stringifyNumericTypes: false }).select([{ alias: 'x', query }]).text).toContain(
      'where ("t1"."country" = ($1)::"text")',
    );
  });
});

describe('lists', () => {
  test('compares with lists from a document, a variable and a session variable, and with empty ones', async () => {
    const inList = (value: Parameters<typeof operand>[0], operator = '_in'): BoolExp => ({
      kind: 'compare',
      left: name,
      operator,
      argument: { kind: 'operand', operand: operand(value, text, true) },
      nullSafe: false,
    });
    expect(await ids('author', inList(literal(['Ann', 'Cid'])))).toEqual([1, 3]);
    expect(await ids('author', inList(literal(['Ann', 'Cid']), '_nin'))).toEqual([2]);
    expect(await ids('author', inList(literal([])))).toEqual([]);
    expect(await ids('author', inList(literal([]), '_nin'))).toEqual([1, 2, 3, 4]);
    expect(await ids('author', inList({ kind: 'list', items: [literal('Ann'), variable('n')] }), { variables: { n: 'Bob' } })).toEqual([
      1, 2,
    ]);
    expect(await ids('author', inList(variable('ns')), { variables: { ns: ['Bob'] } })).toEqual([2]);
    expect(await ids('author', inList({ kind: 'session', name: 'x-svc-names' }), { session: { 'x-svc-names': '{Ann,"Cid"}' } })).toEqual([
      1, 3,
    ]);
  });

  test('compares with lists of arrays', async () => {
    const tags = column('tags', type('text[]'));
    expect(await ids('article', compare(tags, '_in', [['x', 'y'], []] as Json, type('text[]'), true))).toEqual([1, 3]);
    expect(await ids('article', compare(tags, '_nin', [['x', 'y'], [], ['x', 'a,b', 'q"r']] as Json, type('text[]'), true))).toEqual([
      2, 6,
    ]);
    expect(await ids('article', compare(tags, '_eq', ['x', 'a,b', 'q"r'] as Json))).toEqual([5]);
    expect(await ids('article', compare(tags, '_contains', ['x'] as Json))).toEqual([1, 5, 6]);
    expect(await ids('article', compare(tags, '_contained_in', '{y}'))).toEqual([2, 3]);
  });
});

describe('session variables', () => {
  test('casts the text of a session variable to the type of the column', async () => {
    expect(
      await ids('author', compare(id, '_eq', { kind: 'session', name: 'x-svc-user-id' }), { session: { 'x-svc-user-id': '2' } }),
    ).toEqual([2]);
    await expect(ids('author', compare(id, '_eq', { kind: 'session', name: 'x' }), { session: { x: 'two' } })).rejects.toThrow(
      'invalid input syntax for type integer',
    );
  });

  test('binds a session variable once per type', () => {
    const session = { kind: 'session' as const, name: 'x-svc-a' };
    const query = rows(table('author'), [], {
      where: all(compare(id, '_eq', session), compare(id, '_gt', session), compare(name, '_eq', session)),
    });
    expect(compiler({ stringifyNumericTypes: false }).select([{ alias: 'x', query }]).parameters).toHaveLength(2);
  });
});

describe('relationships', () => {
  const dutchAuthor = exists(ofAuthor, table('author'), compare(country, '_eq', 'NL'));

  test('compiles a to-one relationship under and to a join, otherwise to exists', async () => {
    expect(await ids('article', dutchAuthor)).toEqual([1, 2, 3, 4, 5]);
    expect(await ids('article', all(dutchAuthor, compare(title, '_like', 'Sa%')))).toEqual([4, 5]);
    expect(await ids('article', any(dutchAuthor, compare(id, '_eq', 6)))).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await ids('article', not(dutchAuthor))).toEqual([6]);
    const text_ = (where: BoolExp) =>
      compiler({ stringifyNumericTypes: false }).select([{ alias: 'x', query: rows(table('article'), [], { where }) }]).text;
    expect(text_(dutchAuthor)).not.toContain('exists');
    expect(text_(not(dutchAuthor))).toContain('not exists');
  });

  test('does not multiply rows through a to-many relationship', async () => {
    expect(await ids('author', exists(itsArticles, table('article')))).toEqual([1, 2]);
    expect(await ids('author', exists(itsArticles, table('article'), compare(title, '_like', 'Sa%')))).toEqual([2]);
  });

  test('follows chains of relationships in both directions', async () => {
    const profile = exists(joined('id', 'author_id', true), table('profile'), compare(column('bio', text), '_eq', 'painter'));
    const chain = exists(
      itsArticles,
      table('article'),
      all(exists(ofAuthor, table('author'), profile), compare(column('views'), '_gt', 15)),
    );
    expect(await ids('author', chain)).toEqual([1]);
    expect(await ids('author', not(chain))).toEqual([2, 3, 4]);
  });

  test('compiles exists on a table without a relationship', async () => {
    expect(await ids('author', exists(null, table('profile'), compare(column('bio', text), '_eq', 'baker')))).toEqual([1, 2, 3, 4]);
    expect(await ids('author', exists(null, table('profile'), compare(column('bio', text), '_eq', 'none')))).toEqual([]);
  });

  test('compares scalar computed fields and rows of computed fields', async () => {
    const shout: Read = { kind: 'computed-field', call: call('shout', [{ kind: 'row' }], false).call, type: text };
    expect(await ids('author', compare(shout, '_eq', 'BOB'))).toEqual([2]);
    const articles = call('articles_of', [{ kind: 'row' }], false);
    expect(await ids('author', exists(null, articles, compare(title, '_eq', 'Sea')))).toEqual([1]);
  });

  test('compares a masked column after masking', async () => {
    const masked = column('name', text, compare(id, '_gt', 1));
    expect(await ids('author', compare(masked, '_in', ['Ann', 'Bob'], text, true))).toEqual([2]);
    expect(await ids('author', { kind: 'is-null', left: masked, isNull: true })).toEqual([1, 4]);
    const mask = exists(itsArticles, table('article'), compare(title, '_eq', 'Sky'));
    expect(await ids('author', compare(column('name', text, mask), '_in', ['Ann', 'Bob'], text, true))).toEqual([1]);
  });
});

describe('column comparisons', () => {
  const columns = (left: Read, operator: string, right: Read, levels = 0, nullSafe = false): BoolExp => ({
    kind: 'compare-columns',
    left,
    operator,
    right,
    rightRow: levels === 0 ? 'self' : 'root',
    levels,
    nullSafe,
  });

  test('compares columns of one row', async () => {
    expect(await ids('article', columns(column('author_id'), '_eq', id))).toEqual([1]);
    expect(await ids('article', columns(column('views'), '_lt', id))).toEqual([]);
    expect(await ids('article', columns(column('views'), '_gte', id))).toEqual([1, 2, 3, 4, 5]);
  });

  test('compares columns null-safely', async () => {
    expect(await ids('article', columns(column('views'), '_eq', column('author_id'), 0, true))).toEqual([6]);
    expect(await ids('article', columns(column('views'), '_neq', column('author_id'), 0, true))).toEqual([1, 2, 3, 4, 5]);
  });

  test('compares with a column of the root row, across joins and exists', async () => {
    const ownCountry = exists(itsArticles, table('article'), exists(ofAuthor, table('author'), columns(country, '_eq', country, 2)));
    expect(await ids('author', ownCountry)).toEqual([1, 2]);
    const sameId = exists(null, table('profile'), columns(id, '_eq', id, 1));
    expect(await ids('article', sameId)).toEqual([1, 2, 3]);
    expect(await ids('article', any(sameId, FALSE))).toEqual([1, 2, 3]);
  });
});

describe('aggregate predicates', () => {
  const predicate = (
    fn: string,
    comparisons: readonly (readonly [string, Json])[],
    of = int,
    args: readonly Read[] = [],
    where: BoolExp = TRUE,
    distinct = false,
  ): BoolExp => ({
    kind: 'aggregate-predicate',
    join: itsArticles,
    from: table('article'),
    where,
    function: fn,
    arguments: args,
    distinct,
    predicate: comparisons.map(([operator, json]) => ({ kind: 'compare', operator, operand: operand(literal(json), of) })),
  });

  test('compares counts with a filter, distinct and several comparisons; zero without related rows', async () => {
    expect(await ids('author', predicate('count', [['_eq', 0]]))).toEqual([3, 4]);
    expect(
      await ids(
        'author',
        predicate('count', [
          ['_gt', 1],
          ['_lt', 3],
        ]),
      ),
    ).toEqual([2]);
    expect(
      await ids('author', predicate('count', [['_eq', 1]], int, [], compare(column('published', type('bool')), '_eq', false))),
    ).toEqual([1]);
    expect(await ids('author', predicate('count', [['_eq', 1]], int, [column('views')], TRUE, true))).toEqual([2]);
    expect(await ids('author', predicate('count', [['_eq', 2]], int, [column('views')]))).toEqual([2]);
    expect(await ids('author', predicate('count', [['_eq', 2]], int, [column('views'), title], TRUE, true))).toEqual([2]);
  });

  test('compares other aggregate functions', async () => {
    const float = type('float8');
    expect(await ids('author', predicate('avg', [['_eq', 1.5]], float, [column('rating', float)]))).toEqual([1]);
    expect(await ids('author', predicate('max', [['_gt', 3]], float, [column('rating', float)]))).toEqual([2]);
    expect(await ids('author', predicate('corr', [['_gte', -1]], float, [column('rating', float), column('rating', float)]))).toEqual([1]);
    expect(await ids('author', predicate('bool_and', [['_eq', false]], type('bool'), [column('published', type('bool'))]))).toEqual([1]);
    expect(
      await ids('author', {
        ...predicate('max', []),
        arguments: [column('views')],
        predicate: [{ kind: 'is-null', isNull: true }],
      } as BoolExp),
    ).toEqual([3, 4]);
  });
});

describe('conditions for other compilers', () => {
  test('compiles a condition on any alias without joins', async () => {
    const context = createContext({ stringifyNumericTypes: false }, () => {
      throw new Error('no query here');
    });
    const where = exists(ofAuthor, table('author'), compare(name, '_eq', 'Ann'));
    const condition = conditionSql(context, where, ownScope(aliasRow(identifier('article'))));
    const { text: sqlText, parameters } = print(condition, dialect);
    const result = await blog.client.query(
      `select id from article where ${sqlText} order by id`,
      parameters.map((p) => p.encode('Ann')),
    );
    expect(result.rows.map((row: { id: number }) => row.id)).toEqual([1, 2, 3]);
  });

  test('filters related rows by their related rows', async () => {
    const query = rows(
      table('author'),
      [
        related(
          'a',
          itsArticles,
          rows(table('article'), [field('id')], {
            where: exists(ofAuthor, table('author'), compare(name, '_eq', 'Ann')),
            orderBy: [by(id)],
            limit: 2,
          }),
        ),
      ],
      { orderBy: [by(id)], limit: 2 },
    );
    expect(await blog.one(query)).toEqual([{ a: [{ id: 1 }, { id: 2 }] }, { a: [] }]);
  });
});
