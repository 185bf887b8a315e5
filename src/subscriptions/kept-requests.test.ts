import { expect, it } from 'vitest';
import { KeptRequests } from './kept-requests.ts';

it('has room for so much of large requests, for any number of small ones, and again for what was given back', () => {
  const room = new KeptRequests(10_000);
  const small = { query: 'subscription { item { id } }', variables: {} };
  const large = { query: small.query, variables: { ids: Array.from({ length: 1000 }, (_, i) => i) } };
  const giveBack = room.take(large);
  expect(() => room.take(large)).toThrow('too many subscriptions with large documents or variables are open');
  expect(() => room.take({ query: `${small.query}#${'x'.repeat(14_000)}`, variables: {} })).toThrow('too many');
  for (let i = 0; i < 1000; i++) room.take(small);
  giveBack();
  room.take(large);
});
