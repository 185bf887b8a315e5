import { describe, expect, it } from 'vitest';
import { libraryCache } from '../../../test/support/library-fixture.ts';
import { failure, translate } from '../../../test/support/translate.ts';
import type { Capabilities } from '../../backend/backend.ts';
import type { SchemaCache } from '../../schema-cache/schema-cache.ts';

function cacheWith(capabilities: Partial<Capabilities>): SchemaCache {
  const cache = libraryCache();
  const sources = [...cache.sources].map(([name, info]) => {
    const backend = { ...info.backend, capabilities: { ...info.backend.capabilities, ...capabilities } };
    return [name, { ...info, backend }] as const;
  });
  return { ...cache, sources: new Map(sources) };
}

const UPSERT = 'mutation { insert_author(objects: [], on_conflict: {constraint: author_pkey, update_columns: []}) { affected_rows } }';

describe('fields that need a missing capability do not exist', () => {
  it.each<[Partial<Capabilities>, string, string]>([
    [{ distinctOn: false }, '{ author(distinct_on: id) { id } }', "'author' has no argument named 'distinct_on'"],
    [{ onConflict: false }, UPSERT, "'insert_author' has no argument named 'on_conflict'"],
    [{ mutations: false }, UPSERT, 'no mutations exist'],
  ])('%j', (without, query, message) => {
    expect(failure(() => translate(cacheWith(without), query))).toContain(message);
    expect(failure(() => translate(cacheWith({}), query))).toBe('no error');
  });
});
