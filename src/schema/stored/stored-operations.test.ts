import { expect, it } from 'vitest';
import { SMALL_ROOTS } from '../../../test/support/small-schema.ts';
import type { Metadata } from '../../metadata/metadata.ts';
import { runSync } from '../../util/cooperative.ts';
import { DEFAULT_LIMITS } from '../../graphql-engine/engine.ts';
import { normalForm } from './normal-form.ts';
import { resolveStoredOperations } from './stored-operations.ts';

const SCHEMAS = { graphql: () => SMALL_ROOTS, relay: null };

const MANY = 500;
const queries = new Map(
  Array.from({ length: MANY }, (_, i) => [`q${i}`, { name: `q${i}`, query: i === 7 ? '{ nothing }' : `query n${i} { __typename }` }]),
);
const metadata = {
  queryCollections: new Map([['all', { name: 'all', definition: undefined, queries }]]),
  allowlist: new Map([['all', { collection: 'all', scope: null }]]),
  restEndpoints: new Map(),
} as unknown as Pick<Metadata, 'queryCollections' | 'allowlist' | 'restEndpoints'>;

it('checks each query in a step of its own, and finds the problems', () => {
  const work = resolveStoredOperations(metadata, SCHEMAS, DEFAULT_LIMITS);
  let steps = 0;
  let step = work.next();
  for (; step.done !== true; step = work.next()) steps += 1;
  expect(steps).toBe(MANY);
  const { inconsistencies } = step.value;
  expect(inconsistencies.map(({ name }) => name)).toEqual(['query_collections q7 in all']);
  const listed = normalForm('query n3 { __typename }', DEFAULT_LIMITS.maxTokens);
  expect(step.value.allows('user', listed)).toBe(true);
  expect(step.value.allows('user', normalForm('query other { __typename }', DEFAULT_LIMITS.maxTokens))).toBe(false);
  // Unaffected parts are reused.
  expect(runSync(resolveStoredOperations(metadata, SCHEMAS, DEFAULT_LIMITS, step.value))).toBe(step.value);
});
