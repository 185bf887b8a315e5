import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { refusal, type TestAdministration, testAdministration } from '../metadata-api/support.ts';
import { sample } from '../support/deep.ts';

const success = { message: 'success' };
const collection = (name: string, queries: Readonly<Record<string, string>>): JsonObject => ({
  name,
  definition: { queries: Object.entries(queries).map(([query, text]) => ({ name: query, query: text })) },
});
const endpoint = (name: string, url: string, query: string, methods: readonly string[] = ['GET']): JsonObject => ({
  name,
  url,
  methods,
  definition: { query: { collection_name: 'shop', query_name: query } },
});

describe('stored operations', () => {
  let api: TestAdministration;
  const inconsistent = async (): Promise<readonly JsonObject[]> =>
    ((await api.metadata('get_inconsistent_metadata', {})) as { inconsistent_objects: readonly JsonObject[] } & JsonObject)
      .inconsistent_objects;
  const exported = async (): Promise<JsonObject> => (await api.metadata('export_metadata', {})) as JsonObject;

  beforeAll(async () => {
    api = await testAdministration('create table author (id serial primary key, name text, born date)');
  });
  afterAll(() => api.close());
  beforeEach(async () => {
    await api.reset();
    await api.metadata('pg_track_table', 'author');
    await api.metadata('create_query_collection', {
      ...collection('shop', { authors: 'query { author { id } }', one: 'query ($id: Int!) { author_by_pk(id: $id) { name } }' }),
      comment: 'c',
    });
  });

  it('are created, renamed together with their references, and dropped', async () => {
    await api.metadata('add_collection_to_allowlist', { collection: 'shop', scope: { global: false, roles: ['user'] } });
    await api.metadata('create_rest_endpoint', { ...endpoint('by_id', 'author/:id', 'one'), comment: 'one' });
    expect(await api.metadata('rename_query_collection', { name: 'shop', new_name: 'front' })).toEqual(success);
    const { query_collections, allowlist, rest_endpoints } = await exported();
    expect(query_collections).toEqual([
      {
        ...collection('front', { authors: 'query { author { id } }', one: 'query ($id: Int!) { author_by_pk(id: $id) { name } }' }),
        comment: 'c',
      },
    ]);
    expect(allowlist).toEqual([{ collection: 'front', scope: { global: false, roles: ['user'] } }]);
    expect(rest_endpoints).toEqual([
      {
        name: 'by_id',
        url: 'author/:id',
        methods: ['GET'],
        definition: { query: { collection_name: 'front', query_name: 'one' } },
        comment: 'one',
      },
    ]);
    expect(await api.metadata('update_scope_of_collection_in_allowlist', { collection: 'front', scope: { global: true } })).toEqual(
      success,
    );
    expect((await exported())['allowlist']).toEqual([{ collection: 'front', scope: { global: true } }]);
    expect(await api.metadata('drop_rest_endpoint', { name: 'by_id' })).toEqual(success);
    expect(await api.metadata('drop_query_collection', { collection: 'front', cascade: true })).toEqual(success);
    expect(Object.keys(await exported())).toEqual(['version', 'sources']);
  });

  it('accept adding a collection that is listed already without a change', async () => {
    expect(await api.metadata('add_collection_to_allowlist', { collection: 'shop', scope: { global: false, roles: ['a'] } })).toEqual(
      success,
    );
    expect(await api.metadata('add_collection_to_allowlist', { collection: 'shop' })).toMatchObject({
      message: expect.stringContaining('collection "shop" already exists in the allowlist, scope ignored') as string,
    });
    expect((await exported())['allowlist']).toEqual([{ collection: 'shop', scope: { global: false, roles: ['a'] } }]);
  });

  it.each(
    sample<[string, Json, string, string, string]>(
      [
        [
          'create_query_collection',
          collection('shop', {}),
          'already-exists',
          '$.args.name',
          'query collection with name "shop" already exists',
        ],
        [
          'rename_query_collection',
          { name: 'shop', new_name: 'shop' },
          'already-exists',
          '$.args.new_name',
          'query collection with name "shop" already exists',
        ],
        [
          'rename_query_collection',
          { name: 'x', new_name: 'y' },
          'not-exists',
          '$.args.name',
          'query collection with name "x" does not exist',
        ],
        [
          'drop_query_collection',
          { collection: 'x', cascade: true },
          'not-exists',
          '$.args.collection',
          'query collection with name "x" does not exist',
        ],
        ['drop_query_collection', { collection: 'shop' }, 'parse-failed', '$.args', "the key 'cascade' was not present"],
        [
          'add_query_to_collection',
          { collection_name: 'shop', query_name: 'one', query: '{ author { id } }' },
          'already-exists',
          '$.args',
          'query with name "one" already exists in collection "shop"',
        ],
        [
          'add_query_to_collection',
          { collection_name: 'x', query_name: 'q', query: '{ a }' },
          'not-exists',
          '$.args.collection_name',
          'query collection with name "x" does not exist',
        ],
        [
          'drop_query_from_collection',
          { collection_name: 'shop', query_name: 'x' },
          'not-found',
          '$.args',
          'query with name "x" not found in collection "shop"',
        ],
        [
          'add_collection_to_allowlist',
          { collection: 'x' },
          'not-exists',
          '$.args.collection',
          'query collection with name "x" does not exist',
        ],
        [
          'drop_collection_from_allowlist',
          { collection: 'shop' },
          'not-found',
          '$.args',
          'collection "shop" doesn\'t exist in the allowlist',
        ],
        [
          'update_scope_of_collection_in_allowlist',
          { collection: 'shop', scope: { global: true } },
          'not-found',
          '$.args',
          'collection "shop" doesn\'t exist in the allowlist',
        ],
        ['drop_rest_endpoint', { name: 'x' }, 'not-exists', '$.args', 'endpoint with name: x does not exist'],
      ],
      5,
    ),
  )('%s rejects %j', async (type, args, code, path, error) => {
    expect(await refusal(api.metadata(type, args))).toMatchObject({ code, path, error });
  });

  it('keep a listed collection unless it is dropped with cascade', async () => {
    await api.metadata('add_collection_to_allowlist', { collection: 'shop' });
    expect(await refusal(api.metadata('drop_query_collection', { collection: 'shop', cascade: false }))).toMatchObject({
      status: 400,
      code: 'dependency-error',
      error: expect.stringContaining('query collection with name "shop" is present in the allowlist; cannot proceed to drop.') as string,
    });
  });

  it('store a query that does not match the admin schema, and list all its errors', async () => {
    const query =
      'query ($a: Int) { author(limit: "x", wher: {}) { id nam } book { id } author_by_pk { id } a: author(where: {id: {_eqq: 1}, name: {_eq: $a}}) { id } }';
    const reason = [
      "$.author.limit: expected a non-negative 32-bit integer for type 'Int', but found a string",
      "$.author: 'author' has no argument named 'wher'",
      "$.author.nam: field 'nam' not found in object 'author'",
      "$.book: field 'book' not found in object 'query_root'",
      "$.author_by_pk: missing required field 'id'",
      "$.author.where.id._eqq: field '_eqq' not found in type: 'Int_comparison_exp'",
      "$.author.where.name._eq: variable 'a' is declared as 'Int', but used where 'String' is expected",
    ];
    const stored = await api.metadata('add_query_to_collection', { collection_name: 'shop', query_name: 'bad', query });
    expect(stored).toMatchObject({
      message: 'success',
      warnings: [{ code: 'inconsistent-metadata', type: 'query_collections', name: 'query_collections bad in shop' }],
    });
    const [{ message } = { message: '' }] = (stored as { warnings: readonly { message: string }[] } & JsonObject).warnings;
    expect(message).toMatch(/^Inconsistent object: In query collection "shop" the query "bad" is invalid with the following error\(s\): /);
    for (const each of reason) expect(message).toContain(`"${each}"`);
    expect(await inconsistent()).toMatchObject([
      { type: 'query_collections', name: 'query_collections bad in shop', definition: { name: 'bad', query }, reason: message },
    ]);
    expect((await exported())['query_collections']).toMatchObject([{ definition: { queries: [{}, {}, { name: 'bad', query }] } }]);
  });

  it.each(
    sample(
      [
        ['{ author { id }', '$.query: not a valid graphql query'],
        ['{ author { ...f } }', 'reference to undefined fragment "f"'],
        ['query q { author { id } } query q { author { id } }', 'multiple definitions for operation "q"'],
        ['fragment f on author { id }', '$: the document has no operation'],
        ['{ author { id { x } } }', '$.author.id: unexpected subselection set for non-object field'],
        ['{ author }', "$.author: missing selection set for 'author'"],
        ['{ author { x: id x: name } }', "$.author: selection of both 'id' and 'name' specify the same response name, 'x'"],
        ['{ author(order_by: {id: sideways}) { id } }', "expected one of the values ['asc'"],
        ['{ author(limit: $n) { id } }', '$: unbound variable "n"'],
      ],
      3,
    ),
  )('store %s and list it as inconsistent', async (query, problem) => {
    const definition = { queries: [{ name: 'bad', query }] };
    expect(await api.metadata('create_query_collection', { name: 'other', definition })).toMatchObject({ message: 'success' });
    expect(await inconsistent()).toMatchObject([{ reason: expect.stringContaining(problem) as string }]);
  });

  it('do not affect other requests when a query is invalid, also in replaced metadata', async () => {
    const bad = { name: 'bad', query: '{ book { id } }' };
    expect(await refusal(api.metadata('create_query_collection', { name: 'shop', definition: { queries: [bad] } }))).toMatchObject({
      code: 'already-exists',
    });
    await api.metadata('create_query_collection', { name: 'other', definition: { queries: [bad] } });
    await api.metadata('add_collection_to_allowlist', { collection: 'other' });
    const rest: JsonObject = {
      ...endpoint('bad', 'bad', 'bad'),
      definition: { query: { collection_name: 'other', query_name: 'bad' } },
    };
    expect(await api.metadata('create_rest_endpoint', rest)).toEqual(success);
    expect(await api.metadata('pg_untrack_table', { table: 'author' })).toMatchObject({ message: 'success' });
    expect(await api.metadata('pg_track_table', 'author')).toEqual(success);
    const document = await exported();
    await api.reset();
    expect(await api.metadata('replace_metadata', document)).toMatchObject({
      message: 'success',
      warnings: [{ code: 'inconsistent-metadata' }],
    });
    expect(await exported()).toEqual(document);
    const answer = await api.metadata('replace_metadata', { metadata: document, allow_inconsistent_metadata: false });
    expect(answer).toMatchObject({ is_consistent: false, inconsistent_objects: [{ name: 'query_collections bad in other' }] });
    expect(answer).not.toHaveProperty('warnings');
    expect(await api.metadata('drop_inconsistent_metadata', {})).toEqual(success);
    expect(await inconsistent()).toEqual([]);
  });

  it.each(
    sample(
      [
        '{ __typename author { __typename ...f ... on author { name } ... on other { x } } __schema { types { name } } } fragment f on author { id }',
        'mutation ($o: [author_insert_input!]!) { insert_author(objects: $o) { affected_rows returning { id } } }',
        'subscription { author(order_by: [{id: asc}, {name: desc_nulls_last}]) { id } }',
        'query ($ids: [Int!]!, $b: Boolean!, $born: date) { author(where: {id: {_in: $ids}, _or: [{name: {_like: "a"}}, {born: {_gt: $born}}]}) { id @include(if: $b) } }',
        'query a { author { id } } query b { author_aggregate { aggregate { count max { id } } } }',
      ],
      3,
    ),
  )('accept %s', async (query) => {
    expect(await api.metadata('add_query_to_collection', { collection_name: 'shop', query_name: 'good', query })).toEqual(success);
  });

  it('become inconsistent with the objects that they use, name their users, and recover', async () => {
    await api.metadata('add_collection_to_allowlist', { collection: 'shop' });
    await api.metadata('create_rest_endpoint', endpoint('list', 'authors', 'authors'));
    const document = (await exported()) as JsonObject & { sources: readonly JsonObject[] };
    const untracked: JsonObject = { ...document, sources: document.sources.map((source) => ({ ...source, tables: [] })) };
    await api.metadata('replace_metadata', { metadata: untracked, allow_inconsistent_metadata: true });
    expect((await inconsistent()).map(({ reason }) => reason)).toEqual([
      `Inconsistent object: In query collection "shop" the query "authors" is invalid with the following error(s): "$.author: field 'author' not found in object 'query_root'". This query is being used in the following REST endpoint(s): "list". This query is in allowlist.`,
      `Inconsistent object: In query collection "shop" the query "one" is invalid with the following error(s): "$.author_by_pk: field 'author_by_pk' not found in object 'query_root'". This query is in allowlist.`,
    ]);
    await api.metadata('pg_track_table', 'author');
    expect(await inconsistent()).toEqual([]);
  });

  it('are dropped when inconsistent, with the endpoints of dropped queries', async () => {
    const document = await exported();
    const broken: JsonObject = {
      ...document,
      query_collections: [collection('shop', { authors: '{ book { id } }', one: '{ author { id } }' })],
      allowlist: [
        { collection: 'shop', scope: { global: true } },
        { collection: 'gone', scope: { global: true } },
      ],
      rest_endpoints: [endpoint('a', 'a', 'authors'), endpoint('b', 'b', 'one'), endpoint('c', 'c', 'none'), endpoint('d', 'd//', 'one')],
    };
    await api.metadata('replace_metadata', { metadata: broken, allow_inconsistent_metadata: true });
    expect((await inconsistent()).map(({ name }) => name).sort()).toEqual([
      'allowlist gone',
      'query_collections authors in shop',
      'rest_endpoint c',
      'rest_endpoint d',
    ]);
    expect(await api.metadata('drop_inconsistent_metadata', {})).toEqual(success);
    const after = await exported();
    expect((after['rest_endpoints'] as readonly JsonObject[]).map(({ name }) => name)).toEqual(['b']);
    expect(after['allowlist']).toEqual([{ collection: 'shop', scope: { global: true } }]);
    expect(await inconsistent()).toEqual([]);
  });

  it('reject ambiguous endpoints only if they share a method', async () => {
    await api.metadata('create_rest_endpoint', endpoint('a', 'author/:id', 'one', ['GET']));
    expect(await api.metadata('create_rest_endpoint', endpoint('b', 'author/:id', 'one', ['POST']))).toEqual(success);
    expect(await api.metadata('create_rest_endpoint', endpoint('c', 'book/:id', 'one', ['GET']))).toEqual(success);
    expect(await refusal(api.metadata('create_rest_endpoint', endpoint('d', ':kind/1', 'authors', ['GET'])))).toMatchObject({
      code: 'invalid-configuration',
      error: 'Ambiguous URL paths: :kind/1, author/:id, book/:id',
      internal: [
        { reason: 'Ambiguous URL paths: :kind/1, author/:id, book/:id', conflicts: [{ name: 'd' }, { name: 'a' }, { name: 'c' }] },
      ],
    });
  });

  it('reject a path variable that the query does not declare, and do not serve an imported one', async () => {
    const broken = endpoint('e', 'x/:di/:id', 'one');
    expect(await refusal(api.metadata('create_rest_endpoint', broken))).toMatchObject({
      code: 'invalid-configuration',
      error: 'Inconsistent object: in endpoint e: the query one does not declare "$di" of the path',
    });
    const document = await exported();
    const metadata = { ...document, rest_endpoints: [broken] };
    await api.metadata('replace_metadata', { metadata, allow_inconsistent_metadata: true });
    expect((await inconsistent()).map(({ name }) => name)).toEqual(['rest_endpoint e']);
    expect(api.state.current().storedOperations.endpoints).toEqual([]);
  });

  it.each(
    sample<[JsonObject, string]>(
      [
        [endpoint('e', 'x', 'none'), 'Inconsistent object: in endpoint e: query with name none does not exist in collection shop'],
        [
          { ...endpoint('e', 'x', 'one'), definition: { query: { collection_name: 'gone', query_name: 'one' } } },
          'Inconsistent object: in endpoint e: collection with name gone does not exist',
        ],
        [endpoint('e', 'a/:id/b/:id', 'one'), 'Duplicate variables found in endpoint path: a/:id/b/:id'],
        [endpoint('e', 'a/:', 'one'), 'Empty segments or unnamed variables are not allowed: a/:'],
        [endpoint('e', '/a', 'one'), 'Empty segments or unnamed variables are not allowed: /a'],
      ],
      3,
    ),
  )('reject the endpoint %j', async (args, error) => {
    expect(await refusal(api.metadata('create_rest_endpoint', args))).toMatchObject({
      code: 'invalid-configuration',
      path: '$.args',
      error,
    });
  });

  it('reject endpoints of subscriptions and of documents with several operations', async () => {
    await api.metadata('add_query_to_collection', { collection_name: 'shop', query_name: 'live', query: 'subscription { author { id } }' });
    await api.metadata('add_query_to_collection', {
      collection_name: 'shop',
      query_name: 'two',
      query: 'query a { author { id } } query b { author { id } }',
    });
    expect((await refusal(api.metadata('create_rest_endpoint', endpoint('e', 'x', 'live')))).error).toBe(
      'Inconsistent object: in endpoint e: query with name live is a subscription',
    );
    expect((await refusal(api.metadata('create_rest_endpoint', endpoint('e', 'x', 'two')))).error).toContain('exactly one operation');
  });
});
