import { expect, it } from 'vitest';
import { RequestBudget } from './request-budget.ts';

it('limits the size of large requests, not the number of small ones, and reuses released size', () => {
  const room = new RequestBudget(10_000);
  const small = { query: 'subscription { item { id } }', variables: {} };
  const large = { query: small.query, variables: { ids: Array.from({ length: 1000 }, (_, i) => i) } };
  const giveBack = room.take(large);
  expect(() => room.take(large)).toThrow('too many subscriptions with large documents or variables are open');
  expect(() => room.take({ query: `${small.query}#${'x'.repeat(14_000)}`, variables: {} })).toThrow('too many');
  for (let i = 0; i < 1000; i++) room.take(small);
  giveBack();
  room.take(large);
});
