import { describe, expect, it } from 'vitest';
import { testKinds } from '../../test/support/kinds.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { Json } from '../util/json.ts';
import { ROOT } from '../util/path.ts';
import { allowListEntryCodec } from './allow-list.ts';
import { metadataCodec } from './metadata.ts';
import { queryCollectionCodec } from './query-collection.ts';
import { restEndpointCodec } from './rest-endpoint.ts';

const refusal = (decode: () => unknown): readonly string[] => {
  try {
    decode();
  } catch (error) {
    if (error instanceof SvcError) return [error.code, error.printedPath, error.message];
  }
  throw new Error('nothing was refused');
};

describe('query collections', () => {
  it('keep the order of their queries and reject duplicate names', () => {
    const json: Json = { name: 'c', definition: { queries: ['z', 'a'].map((name) => ({ name, query: `{ ${name} }` })) } };
    expect(queryCollectionCodec.encode(queryCollectionCodec.decode(json, ROOT))).toEqual(json);
    const twice: Json = { name: 'c', definition: { queries: ['z', 'a', 'z'].map((name) => ({ name, query: '' })) } };
    expect(refusal(() => queryCollectionCodec.decode(twice, ROOT))).toEqual([
      'not-supported',
      '$.definition.queries',
      'found duplicate query names z',
    ]);
  });
});

describe('the allow-list', () => {
  it('is global unless it names roles', () => {
    const scopeOf = (scope: Json | undefined) =>
      allowListEntryCodec.encode(allowListEntryCodec.decode({ collection: 'c', ...(scope === undefined ? {} : { scope }) }, ROOT));
    expect(scopeOf(undefined)).toEqual({ collection: 'c', scope: { global: true } });
    expect(scopeOf({ global: true })).toEqual({ collection: 'c', scope: { global: true } });
    expect(scopeOf({ global: false, roles: ['b', 'a'] })).toEqual({ collection: 'c', scope: { global: false, roles: ['b', 'a'] } });
  });

  it.each<[Json, string]>([
    [{ global: true, roles: ['a'] }, '$.scope'],
    [{ global: false }, '$.scope'],
    [{ global: false, roles: [] }, '$.scope.roles'],
    [{ global: false, roles: ['a', 'b', 'a'] }, '$.scope.roles'],
  ])('refuses the scope %j', (scope, path) => {
    expect(refusal(() => allowListEntryCodec.decode({ collection: 'c', scope }, ROOT)).slice(0, 2)).toEqual(['parse-failed', path]);
  });
});

describe('REST endpoints', () => {
  const endpoint = (name: string, url: string, methods: Json): Json => ({
    name,
    url,
    methods,
    definition: { query: { collection_name: 'c', query_name: 'q' } },
    comment: null,
  });

  it.each<[Json, string]>([
    [[], '$.methods'],
    [['get'], '$.methods[0]'],
    [['GET', 'HEAD'], '$.methods[1]'],
  ])('refuse the methods %j', (methods, path) => {
    expect(refusal(() => restEndpointCodec.decode(endpoint('e', 'u', methods), ROOT)).slice(0, 2)).toEqual(['parse-failed', path]);
  });

  it('are exported in the order of their URLs', () => {
    const document: Json = {
      version: 3,
      sources: [],
      rest_endpoints: [endpoint('b', 'a/:id', ['GET']), endpoint('a', 'z', ['POST', 'GET'])],
    };
    const codec = metadataCodec(testKinds);
    expect(codec.encode(codec.decode(document, ROOT))).toEqual(document);
  });
});
