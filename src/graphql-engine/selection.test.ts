import { describe, expect, test } from 'vitest';
import { printPath } from '../util/path.ts';
import { answer, engine, refusal, seen, translate } from '../../test/support/small-engine.ts';
import type { Seen } from '../../test/support/small-schema.ts';

function shape(fields: readonly Seen[] | null): unknown {
  return fields?.map((field) =>
    field.fields === null ? `${field.key}=${field.name}` : [`${field.key}=${field.name}`, shape(field.fields)],
  );
}
const shapeOf = (query: string, variables = {}): unknown => shape(seen(translate(query, { variables })));

describe('fields', () => {
  test.each([
    ['{ nope }', "field 'nope' not found in type: 'query_root' @ $.selectionSet.nope"],
    ['{ a: author { b: nope } }', "field 'nope' not found in type: 'author' @ $.selectionSet.author.selectionSet.nope"],
    ['{ app { nope } }', "field 'nope' not found in type: 'app_query' @ $.selectionSet.app.selectionSet.nope"],
    ['mutation { author { id } }', "field 'author' not found in type: 'mutation_root' @ $.selectionSet.author"],
    ['{ constructor }', "field 'constructor' not found in type: 'query_root' @ $.selectionSet.constructor"],
    ['{ author }', "missing selection set for 'author' @ $.selectionSet.author"],
    ['{ app }', "missing selection set for 'app_query' @ $.selectionSet.app"],
    ['{ author { id { x } } }', 'unexpected subselection set for non-object field @ $.selectionSet.author.selectionSet.id'],
    ['{ __typename { x } }', 'unexpected subselection set for non-object field @ $.selectionSet.__typename'],
    ['{ __typename(a: 1) }', "'__typename' has no argument named 'a' @ $.selectionSet.__typename"],
    ['{ app { __schema { __typename } } }', "field '__schema' not found in type: 'app_query' @ $.selectionSet.app.selectionSet.__schema"],
    ['mutation { __schema { __typename } }', "field '__schema' not found in type: 'mutation_root' @ $.selectionSet.__schema"],
  ])('%s', (query, message) => expect(refusal(query)).toBe(`validation-failed: ${message}`));

  test('keep the order of the request and have paths of names', () => {
    const operation = translate('{ b: author { z: id a: name } a: author { id } }');
    expect(shape(seen(operation))).toEqual([
      ['b=author', ['z=id', 'a=name']],
      ['a=author', ['id=id']],
    ]);
    expect(printPath(seen(operation)[0]?.fields?.[1]?.path as Seen['path'])).toBe('$.selectionSet.author.selectionSet.name');
  });
});

describe('merging', () => {
  test('equal response keys become one field with all sub-selections, at every level', () => {
    expect(
      shapeOf(
        '{ author { id articles { id } } ...F author { articles { title author { id } } } } fragment F on query_root { author { name articles { author { name } } } }',
      ),
    ).toEqual([
      ['author=author', ['id=id', ['articles=articles', ['id=id', ['author=author', ['name=name', 'id=id']], 'title=title']], 'name=name']],
    ]);
  });

  test.each([
    [
      '{ author { x: id x: name } }',
      "selection of both 'id' and 'name' specify the same response name, 'x' @ $.selectionSet.author.selectionSet",
    ],
    [
      '{ author { id: name id } }',
      "selection of both 'name' and 'id' specify the same response name, 'id' @ $.selectionSet.author.selectionSet",
    ],
    [
      '{ notice ...F } fragment F on query_root { notice: author { id } }',
      "selection of both 'notice' and 'author' specify the same response name, 'notice' @ $.selectionSet",
    ],
    [
      '{ author(limit: 1) { id } author(limit: 2) { id } }',
      "inconsistent arguments between multiple selections of field 'author' @ $.selectionSet",
    ],
    ['{ author(limit: 1) { id } author { id } }', "inconsistent arguments between multiple selections of field 'author' @ $.selectionSet"],
    [
      '{ author(where: {id: {_eq: 1}}) { id } author(where: {id: {_eq: "1"}}) { id } }',
      "inconsistent arguments between multiple selections of field 'author' @ $.selectionSet",
    ],
    [
      '{ author { data articles { title: id } } author { articles { title } } }',
      "selection of both 'id' and 'title' specify the same response name, 'title' @ $.selectionSet.author.selectionSet.articles.selectionSet",
    ],
  ])('%s', (query, message) => expect(refusal(query)).toBe(`validation-failed: ${message}`));

  test('the order of arguments and of keys does not matter', () => {
    expect(refusal('{ author(limit: 1, where: {id: {}, key: {}}) { id } author(where: {key: {}, id: {}}, limit: 1) { id } }')).toBe(
      'accepted',
    );
  });
});

describe('fragments', () => {
  test('on another type select nothing, and their types remain to be checked', () => {
    expect(
      shapeOf('{ author { id ... on article { title } ...F ... on nowhere { x } ... { name } } } fragment F on author_order_by { x }'),
    ).toEqual([['author=author', ['id=id', 'name=name']]]);
    const names = (query: string) => translate(query).unmatchedTypes.map(({ name }) => name);
    expect(names('{ author { id ... on article { title } ... on nowhere { x } } }')).toEqual(['article', 'nowhere']);
    expect(names('{ any { ... on author { id } ... on article { id } ... on any { __typename } } }')).toEqual([]);
  });

  test('on members of a union select from those members', () => {
    expect(shapeOf('{ any { __typename ... on author { id } ... on any { ... on article { title } } } }')).toEqual([
      ['any=any', ['__typename=__typename', 'id=id', '__typename=__typename', 'title=title']],
    ]);
  });

  test('a union has no fields of its own', () => {
    expect(refusal('{ any { id } }')).toBe("validation-failed: field 'id' not found in type: 'any' @ $.selectionSet.any.selectionSet.id");
    expect(refusal('{ any { ... on any { id } } }')).toContain("not found in type: 'any'");
  });
});

describe('@skip and @include', () => {
  test.each([
    ['{ author { id @skip(if: true) name @include(if: true) } }', [['author=author', ['name=name']]]],
    ['{ author { id @include(if: false) name @skip(if: true) @include(if: true) } }', [['author=author', []]]],
    ['{ author { ...F @skip(if: true) ... @include(if: true) { name } } } fragment F on author { id }', [['author=author', ['name=name']]]],
    ['{ author { ...F @skip(if: true) ...F } } fragment F on author { id }', [['author=author', ['id=id']]]],
  ])('%s', (query, expected) => expect(shapeOf(query)).toEqual(expected));

  test('excluded fields are not checked', () => {
    expect(refusal('{ notice nope @skip(if: true) }')).toBe('accepted');
  });

  test('excluding everything leaves an empty object', async () => {
    expect(await answer(translate('{ author @skip(if: true) { id } }'))).toEqual({});
  });
});

describe('roots', () => {
  test('the response has the keys of the request, including namespaces', async () => {
    const operation = translate(
      '{ t: __typename a: author { id } app { x: author { id } __typename } notice b: author_by_pk(id: 1) { id } }',
    );
    expect(await answer(operation)).toEqual({
      t: 'query_root',
      a: 'root 0',
      app: { x: 'root 1', __typename: 'app_query' },
      notice: 'nothing "here"',
      b: 'root 2',
    });
    expect(
      operation.roots.map((root) => [root.source, printPath(root.path), root.responseKey, root.kind === 'source' && root.root.alias]),
    ).toEqual([
      ['default', '$.selectionSet.author', 'a', '0'],
      ['default', '$.selectionSet.app.selectionSet.author', 'x', '1'],
      ['default', '$.selectionSet.author_by_pk', 'b', '2'],
    ]);
  });

  test('have the kind and name of the operation', () => {
    expect(translate('mutation m { delete_author(where: {}) { id } }')).toMatchObject({ kind: 'mutation', name: 'm' });
    expect(engine().prepare('subscription { author { id } }', null)).toMatchObject({ kind: 'subscription', name: null });
  });

  test.each([
    ['subscription { author { id } b: author { id } }', 'validation-failed: subscriptions must select one top level field @ $'],
    ['subscription { author @skip(if: true) { id } }', 'validation-failed: subscriptions must select one top level field @ $'],
    [
      'subscription { ...F ...G } fragment F on subscription_root { author { id } } fragment G on subscription_root { author_by_pk(id: 1) { id } }',
      'validation-failed: subscriptions must select one top level field @ $',
    ],
    ['subscription { __typename }', 'not-supported: Introspection at root field level is not supported over subscriptions @ $'],
    [
      'subscription { __schema { __typename } }',
      'not-supported: Introspection at root field level is not supported over subscriptions @ $',
    ],
    ['subscription { author { id } ...F } fragment F on subscription_root { author { name } }', 'accepted'],
    ['subscription @_multiple_top_level_fields { author { id } b: author { id } }', 'accepted'],
    [
      'subscription @_multiple_top_level_fields { author { id } __typename }',
      'not-supported: Introspection at root field level is not supported over subscriptions @ $',
    ],
    [
      'query @_multiple_top_level_fields { author { id } }',
      "validation-failed: directive '_multiple_top_level_fields' is not allowed on a query @ $",
    ],
  ])('%s', (query, message) => expect(refusal(query)).toBe(message));

  test('a subscription may have several root fields if the option allows it', () => {
    const options = { multipleSubscriptionRoots: true };
    expect(refusal('subscription { author { id } b: author { id } }', { options })).toBe('accepted');
  });
});
