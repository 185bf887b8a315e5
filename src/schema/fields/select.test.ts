import { describe, expect, it } from 'vitest';
import { libraryCache, OWN_ARTICLES } from '../../../test/support/library-fixture.ts';
import { typeNamed } from '../../../test/support/schema-cache-fixture.ts';
import { failure, translate } from '../../../test/support/translate.ts';
import type { RowsQuery } from '../../ir/select.ts';

const cache = libraryCache();

function query(text: string, how: Parameters<typeof translate>[2] = {}): RowsQuery {
  return translate(cache, text, how).roots[0]?.root.query as RowsQuery;
}

const int = typeNamed('int4');
const read = (name: string, type: string) => ({ kind: 'column', column: name, type: typeNamed(type) });

describe('rows of a table', () => {
  it('selects columns under their response keys', () => {
    expect(query('{ author { key: id name __typename } }')).toEqual({
      kind: 'rows',
      shape: 'list',
      from: { kind: 'table', name: { schema: 'public', name: 'author' } },
      rows: { where: { kind: 'constant', value: true }, distinctOn: [], orderBy: [], limit: null, offset: null },
      fields: [
        { kind: 'read', alias: 'key', read: { ...read('id', 'int4'), notNull: true }, jsonPath: null },
        { kind: 'read', alias: 'name', read: read('name', 'text'), jsonPath: null },
        { kind: 'typename', alias: '__typename', typeName: 'author' },
      ],
    });
  });

  it('finds one row by its key, without the limit of the permission', () => {
    const { shape, rows } = query('query ($i: Int!) { article_by_pk(id: $i) { id } }', { role: 'user', variables: { i: 3 } });
    expect(shape).toBe('single');
    expect(rows.limit).toBeNull();
    expect(rows.where).toMatchObject({
      kind: 'guarded',
      guard: OWN_ARTICLES,
      item: { kind: 'compare', operator: '_eq', argument: { operand: { value: { kind: 'variable', name: 'i' }, type: int } } },
    });
  });

  it('uses the smaller limit of argument and permission, and keeps the offset a variable', () => {
    expect(query('{ article { id } }', { role: 'user' }).rows.limit).toBe(5);
    expect(query('{ article(limit: 2) { id } }', { role: 'user' }).rows.limit).toBe(2);
    expect(query('{ article(limit: 20) { id } }', { role: 'user' }).rows.limit).toBe(5);
    const operation = translate(cache, 'query ($l: Int, $o: Int) { article(limit: $l, offset: $o) { id } }', {
      variables: { l: 3, o: '9000000000' },
    });
    const rows = (operation.roots[0]?.root.query as RowsQuery | undefined)?.rows;
    expect(rows).toMatchObject({ limit: 3, offset: { kind: 'variable', name: 'o' } });
    expect(operation.constraints).toContainEqual({ variable: 'l', path: [], fact: { kind: 'equals', json: 3 } });
    expect(operation.constraints.some(({ fact }) => fact.kind === 'equals' && fact.json === '9000000000')).toBe(false);
  });

  it.each([
    ['limit: -1', "limit: expected a non-negative 32-bit integer for type 'Int', but found an integer"],
    ['limit: "3"', "limit: expected a non-negative 32-bit integer for type 'Int', but found a string"],
    ['limit: 2147483648', "limit: expected a non-negative 32-bit integer for type 'Int', but found an integer"],
    ['offset: "x"', "offset: expected a 32-bit integer, or a 64-bit integer represented as a string for type 'Int', but found a string"],
    [
      'offset: -1',
      "offset: expected a non-negative 32-bit integer, or a 64-bit integer represented as a string for type 'Int', but found an integer",
    ],
    ['offset: 1.5', "offset: expected a 32-bit integer, or a 64-bit integer represented as a string for type 'Int', but found a float"],
    [
      'offset: "9223372036854775808"',
      "offset: expected a 32-bit integer, or a 64-bit integer represented as a string for type 'Int', but found a string",
    ],
  ])('rejects %s', (args, message) => {
    expect(failure(() => query(`{ article(${args}) { id } }`))).toBe(`$.selectionSet.article.args.${message}`);
  });

  it('treats null arguments as absent', () => {
    const { rows } = query('{ article(limit: null, offset: null, where: null, order_by: null, distinct_on: null) { id } }');
    expect(rows).toEqual({ where: { kind: 'constant', value: true }, distinctOn: [], orderBy: [], limit: null, offset: null });
  });
});

describe('relationships', () => {
  it('joins rows with the filter of the target', () => {
    const { fields } = query('{ author { articles(limit: 9) { author { id } } } }', { role: 'user' });
    expect(fields).toMatchObject([
      {
        kind: 'related',
        alias: 'articles',
        join: { columns: [{ local: 'id', remote: 'author_id' }] },
        query: {
          shape: 'list',
          rows: { where: OWN_ARTICLES, limit: 5 },
          fields: [{ kind: 'related', alias: 'author', query: { shape: 'single', rows: { where: { value: true }, limit: null } } }],
        },
      },
    ]);
  });

  it('hides relationships to tables that the role may not select', () => {
    expect(query('{ article { secret { code } } }').fields).toHaveLength(1);
    expect(failure(() => query('{ article { secret { code } } }', { role: 'user' }))).toBe(
      "$.selectionSet.article.selectionSet.secret: field 'secret' not found in type: 'article'",
    );
  });
});

describe('what a role sees', () => {
  it('reads masked columns through their mask', () => {
    const { fields } = query('{ article_by_pk(id: 1) { title } }', { role: 'masked' });
    expect(fields).toMatchObject([{ read: { kind: 'column', column: 'title', mask: OWN_ARTICLES } }]);
  });

  it('shows only the listed root fields', () => {
    expect(failure(() => query('{ article { id } }', { role: 'masked' }))).toBe(
      "$.selectionSet.article: field 'article' not found in type: 'query_root'",
    );
  });

  it('has a placeholder for a role without queries', () => {
    const operation = translate(cache, '{ no_queries_available }', { role: 'nobody' });
    expect(operation.roots).toEqual([]);
    expect(operation.response).toMatchObject({ entries: [['no_queries_available', { kind: 'json' }]] });
    expect(failure(() => translate(cache, '{ no_queries_available }'))).toContain("field 'no_queries_available' not found");
    expect(failure(() => translate(cache, 'subscription { author { id } }', { role: 'nobody' }))).toBe('$: no subscriptions exist');
  });
});

describe('JSON columns', () => {
  it('parses paths, literal or variable', () => {
    expect(query('{ author { data(path: "$.a[0]") } }').fields).toMatchObject([{ jsonPath: { kind: 'literal', json: ['a', '0'] } }]);
    const [field] = query('query ($p: String) { author { data(path: $p) } }', { variables: { p: 'a.b' } }).fields;
    const path = field?.kind === 'read' ? field.jsonPath : null;
    if (path?.kind !== 'variable') throw new Error('expected a variable');
    expect(path.check('x["y z"]', path.at)).toEqual(['x', 'y z']);
    expect(query('query ($p: String) { author { data(path: $p) } }').fields).toMatchObject([{ jsonPath: null }]);
  });

  it('rejects invalid paths at the argument', () => {
    expect(failure(() => query('{ author { data(path: "a..b") } }'))).toContain(
      '$.selectionSet.author.selectionSet.data.args.path: parse json path error: ',
    );
  });
});

describe('computed fields', () => {
  it('calls scalar functions with the row and the session', () => {
    expect(query('{ author { full_name } }', { role: 'user' }).fields).toMatchObject([
      {
        kind: 'read',
        read: {
          kind: 'computed-field',
          call: {
            function: { name: 'author_full_name' },
            arguments: [{ kind: 'row' }, { kind: 'value', name: null, operand: { value: { kind: 'session-variables' } } }],
          },
        },
      },
    ]);
  });

  it('passes arguments by position, and by name after an omitted one', () => {
    expect(query('{ author { search_articles(args: {term: "x", more: 2}, limit: 1) { id } } }').fields).toMatchObject([
      {
        kind: 'related',
        join: null,
        query: {
          rows: { limit: 1 },
          from: {
            kind: 'function',
            call: {
              arguments: [
                { kind: 'row' },
                { name: null, operand: { value: { kind: 'literal', json: 'x' } } },
                { name: 'more', operand: { value: { kind: 'literal', json: 2 } } },
              ],
            },
          },
        },
      },
    ]);
  });

  it('rejects calls without a required argument', () => {
    const path = '$.selectionSet.author.selectionSet.search_articles.args';
    expect(failure(() => query('{ author { search_articles { id } } }'))).toBe(`${path}.args: missing required field 'args'`);
    expect(failure(() => query('{ author { search_articles(args: {}) { id } } }'))).toBe(
      `${path}.args: Non default arguments cannot be omitted`,
    );
  });

  it('hides scalar computed fields that the permission does not list', () => {
    expect(failure(() => query('{ author { full_name } }', { role: 'plain' }))).toContain("field 'full_name' not found in type: 'author'");
  });
});

describe('functions as query roots', () => {
  it('reads from the call with the permissions of the table', () => {
    expect(query('{ find_articles(args: {term: null, arg_1: 7}) { id } }', { role: 'user' })).toMatchObject({
      from: {
        kind: 'function',
        call: {
          arguments: [
            { operand: { value: { kind: 'literal', json: null } } },
            { operand: { value: { kind: 'session-variables' } } },
            { name: null, operand: { value: { kind: 'literal', json: 7 } } },
          ],
        },
      },
      rows: { where: OWN_ARTICLES, limit: 5 },
    });
  });
});
