import { describe, expect, it } from 'vitest';
import { libraryCache, OWN_ARTICLES } from '../../../test/support/library-fixture.ts';
import { failure, translate, type TranslateOptions } from '../../../test/support/translate.ts';
import type { BoolExp } from '../../ir/bool-exp.ts';
import { DEFAULT_ROLE_SCHEMAS_OPTIONS } from '../role-schemas.ts';

const cache = libraryCache();

function where(text: string, how: TranslateOptions = {}, variables = ''): BoolExp {
  const query = translate(cache, `query ${variables} { author(where: ${text}) { id } }`, how).roots[0]?.root.query;
  if (query?.kind !== 'rows') throw new Error('expected rows');
  return query.rows.where;
}

const TRUE = { kind: 'constant', value: true };
const FALSE = { kind: 'constant', value: false };

describe('the shape of conditions', () => {
  it.each([
    ['{}', TRUE],
    ['{id: {}}', TRUE],
    ['{_and: []}', TRUE],
    ['{_or: []}', FALSE],
    ['{_or: [{}]}', TRUE],
    ['{_not: {}}', FALSE],
  ])('%s', (text, expected) => {
    expect(where(text)).toEqual(expected);
  });

  it('accepts one object instead of a list, and combines keys with and', () => {
    expect(where('{_or: {id: {_gt: 1, _lt: 5}}, name: {_is_null: true}}')).toMatchObject({
      kind: 'and',
      items: [
        { kind: 'compare', operator: '_gt' },
        { kind: 'compare', operator: '_lt' },
        { kind: 'is-null', isNull: true, left: { column: 'name' } },
      ],
    });
  });

  it.each([
    ['{_and: null}', '_and: expected a list, but found null'],
    ['{_not: null}', "_not: expected an object for type 'author_bool_exp', but found null"],
    ['{id: null}', "id: expected an object for type 'Int_comparison_exp', but found null"],
    ['{articles: null}', "articles: expected an object for type 'article_bool_exp', but found null"],
    ['{id: {_eq: null}}', "id._eq: unexpected null value for type 'Int'"],
    ['{id: {_in: null}}', 'id._in: expected a list, but found null'],
    ['{id: {_is_null: null}}', "id._is_null: expected a boolean for type 'Boolean', but found null"],
    ['{mood: {_eq: null}}', "mood._eq: expected an enum value for type 'mood_enum', but found null"],
    ['{mood: {_eq: Angry}}', "mood._eq: expected one of the values ['Happy', 'Sad'] for type 'mood_enum', but found 'Angry'"],
    ['{mood: {_eq: "Sad"}}', "mood._eq: expected an enum value for type 'mood_enum', but found a string"],
    ['{mood: {_gt: Sad}}', "mood._gt: field '_gt' not found in type: 'mood_enum_comparison_exp'"],
    ['{search_articles: {}}', "search_articles: field 'search_articles' not found in type: 'author_bool_exp'"],
  ])('rejects %s', (text, message) => {
    expect(failure(() => where(text))).toBe(`$.selectionSet.author.args.where.${message}`);
  });

  it('rejects a null variable, or ignores it if configured so', () => {
    const sent = { variables: { x: null } };
    expect(failure(() => where('{id: {_eq: $x}}', sent, '($x: Int)'))).toContain("_eq: unexpected null value for type 'Int'");
    const options = { ...DEFAULT_ROLE_SCHEMAS_OPTIONS, build: { ...DEFAULT_ROLE_SCHEMAS_OPTIONS.build, nullCollapse: true } };
    expect(where('{id: {_eq: $x, _in: null}}', { ...sent, options }, '($x: Int)')).toEqual(TRUE);
  });
});

describe('operands', () => {
  it('are references with the type of the column', () => {
    expect(
      where('{id: {_in: $ids}, mood: {_neq: $m}}', { variables: { ids: [1, 2], m: 'Sad' } }, '($ids: [Int!], $m: mood_enum)'),
    ).toMatchObject({
      items: [
        {
          operator: '_in',
          argument: { operand: { list: true, type: { name: 'int4', array: false }, value: { kind: 'variable', name: 'ids' } } },
        },
        { operator: '_neq', argument: { operand: { list: false, value: { kind: 'variable', name: 'm' } } } },
      ],
    });
  });

  it('accept whole arrays, and other types for some operators', () => {
    expect(where('{tags: {_contains: ["a"]}, data: {_has_keys_any: ["k"], _cast: {String: {_like: "%x%"}}}}')).toMatchObject({
      items: [
        { operator: '_contains', argument: { operand: { list: false, type: { name: 'text', array: true }, value: { json: ['a'] } } } },
        { operator: '_has_keys_any', argument: { operand: { list: true, type: { name: 'text' } } } },
        { operator: '_like', left: { kind: 'cast', read: { column: 'data' }, type: { name: 'text' } } },
      ],
    });
    expect(where('{tags: {_in: [["a"], ["b", "c"]]}}')).toMatchObject({
      argument: { operand: { list: true, type: { array: true }, value: { kind: 'literal', json: [['a'], ['b', 'c']] } } },
    });
    expect(where('{tags: {_eq: "{a,b}"}}')).toMatchObject({
      argument: { operand: { list: false, value: { kind: 'literal', json: '{a,b}' } } },
    });
  });

  it('of spatial operators are named fields', () => {
    expect(where('{articles: {place: {_st_d_within: {distance: 1.5, from: {type: "Point", coordinates: [1, 2]}}}}}')).toMatchObject({
      kind: 'exists',
      where: {
        operator: '_st_d_within',
        argument: { kind: 'fields', fields: { distance: { type: { name: 'float4' } }, from: { type: { name: 'geometry' } } } },
      },
    });
  });
});

describe('related rows', () => {
  it('must be visible to the role', () => {
    expect(where('{articles: {}}', { role: 'user' })).toEqual({
      kind: 'exists',
      join: { columns: [{ local: 'id', remote: 'author_id' }], unique: false },
      from: { kind: 'table', name: { schema: 'public', name: 'article' } },
      where: OWN_ARTICLES,
    });
  });

  it('come from functions for table computed fields', () => {
    expect(where('{drafts: {id: {_eq: 1}}, full_name: {_eq: "x"}}')).toMatchObject({
      items: [
        { kind: 'exists', join: null, from: { kind: 'function', call: { arguments: [{ kind: 'row' }] } } },
        { kind: 'compare', left: { kind: 'computed-field' } },
      ],
    });
  });
});

describe('aggregate predicates', () => {
  it('count the visible rows that match the filter', () => {
    expect(
      where(
        '{articles_aggregate: {count: {predicate: {_gt: 3, _is_null: false}, filter: {title: {_eq: "x"}}, arguments: [title], distinct: true}}}',
        { role: 'user' },
      ),
    ).toMatchObject({
      kind: 'aggregate-predicate',
      function: 'count',
      arguments: [{ column: 'title' }],
      distinct: true,
      where: { kind: 'guarded', guard: OWN_ARTICLES, item: { operator: '_eq' } },
      predicate: [
        { kind: 'compare', operator: '_gt', operand: { type: { name: 'int4' } } },
        { kind: 'is-null', isNull: false },
      ],
    });
  });

  it('exist for columns of the right type only', () => {
    expect(failure(() => where('{articles_aggregate: {avg: {arguments: views, predicate: {_gt: 1}}}}'))).toContain(
      "articles_aggregate.avg: field 'avg' not found in type: 'article_aggregate_bool_exp'",
    );
  });

  function readers(text: string): BoolExp {
    const query = translate(cache, `{ article(where: {readers_aggregate: ${text}}) { id } }`).roots[0]?.root.query;
    if (query?.kind !== 'rows') throw new Error('expected rows');
    return query.rows.where;
  }

  it('accept one column, or several by name', () => {
    expect(readers('{bool_and: {arguments: active, predicate: {_eq: true}}}')).toMatchObject({
      function: 'bool_and',
      arguments: [{ column: 'active' }],
      predicate: [{ operator: '_eq', operand: { type: { name: 'bool' } } }],
    });
    expect(readers('{corr: {arguments: {Y: rating, X: rating}, predicate: {_lt: 1}}}')).toMatchObject({
      function: 'corr',
      arguments: [{ column: 'rating' }, { column: 'rating' }],
    });
    expect(failure(() => readers('{bool_or: {arguments: rating, predicate: {}}}'))).toContain("expected one of the values ['active']");
  });

  it.each(['{}', '{count: {predicate: {}}, bool_and: {arguments: active, predicate: {}}}'])('must be exactly one: %s', (text) => {
    expect(failure(() => readers(text))).toBe(
      '$.selectionSet.article.args.where.readers_aggregate: exactly one predicate should be specified',
    );
  });
});
