import { describe, expect, it } from 'vitest';
import { type KnownCollections, saveQuerySteps } from './collection-steps.ts';

const QUERY = { name: 'Albums', text: '{ album { id } }', collection: 'console', allow: false };
const NONE: KnownCollections = { collections: [], allowed: [] };
const known = (...queries: { name: string; query: string }[]): KnownCollections => ({
  collections: [{ name: 'console', definition: { queries } }],
  allowed: ['console'],
});
const typesOf = (query: typeof QUERY & { endpoint?: { url: string; methods: string[] } }, collections: KnownCollections) => {
  const { steps, inverse } = saveQuerySteps(query, collections);
  return [steps.map(({ type }) => type), inverse.map(({ type }) => type)];
};

describe('steps that store a query', () => {
  it('creates a collection that does not exist', () => {
    expect(saveQuerySteps(QUERY, NONE)).toEqual({
      steps: [
        { type: 'create_query_collection', args: { name: 'console', definition: { queries: [{ name: 'Albums', query: QUERY.text }] } } },
      ],
      inverse: [{ type: 'drop_query_collection', args: { collection: 'console', cascade: true } }],
    });
  });

  it('adds a query with a new text to its collection, and a stored one not again', () => {
    expect(typesOf(QUERY, known({ name: 'Albums', query: '{ album { title } }' }))).toEqual([
      ['add_query_to_collection'],
      ['drop_query_from_collection'],
    ]);
    expect(typesOf(QUERY, known({ name: 'Albums', query: QUERY.text }))).toEqual([[], []]);
  });

  it('undoes a REST endpoint and the allow-list before the collection', () => {
    expect(typesOf({ ...QUERY, allow: true, endpoint: { url: 'albums', methods: ['GET'] } }, NONE)).toEqual([
      ['create_query_collection', 'add_collection_to_allowlist', 'create_rest_endpoint'],
      ['drop_rest_endpoint', 'drop_collection_from_allowlist', 'drop_query_collection'],
    ]);
  });

  it('adds no collection to the allow-list that is on it', () => {
    expect(typesOf({ ...QUERY, allow: true }, known({ name: 'Albums', query: QUERY.text }))).toEqual([[], []]);
  });
});
