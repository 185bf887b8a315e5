import { expect, it } from 'vitest';
import type { Bytes } from '../util/bytes.ts';
import { type CacheQuestion, createResponseCache } from './response-cache.ts';

const LIMITS = { memory: 5000, mostOfEntry: 2000, mostTtl: 60 };
const snapshot = {};

/** A question whose statement is this text. */
function question(text: string, more: Partial<CacheQuestion> = {}): CacheQuestion {
  const step = { kind: 'select', source: 'default', statement: { text, repeatable: true }, binders: [], responseKeys: [] };
  const plan = { kind: 'query', steps: [step], joins: [], template: [], cached: { ttl: 60, refresh: false } };
  const session = { role: 'user', variables: new Map(), backendOnly: false };
  const request = { query: text, operationName: null, variables: {} };
  return {
    plan,
    operation: {},
    snapshot,
    session,
    variables: {},
    request,
    headers: {},
    onNote: undefined,
    ...more,
  } as unknown as CacheQuestion;
}

const body = (text: string): readonly Bytes[] => [text as Bytes];

it('holds no more bytes than it may, and forgets what was not asked for longest', async () => {
  const cache = createResponseCache(LIMITS);
  const ask = async (text: string): Promise<boolean> => {
    let made = false;
    await cache.answer(question(text), async () => {
      made = true;
      return body('x'.repeat(1000));
    });
    return made;
  };
  for (const text of ['a', 'b', 'c']) await ask(text);
  expect(await ask('a')).toBe(false);
  for (const text of ['d', 'e', 'f']) await ask(text);
  expect(cache.memory).toBeLessThanOrEqual(LIMITS.memory);
  expect(cache.counts.evictions).toBeGreaterThan(0);
  expect(await ask('f')).toBe(false);
  expect(await ask('b')).toBe(true);
});

it('lets those who wait ask for themselves where the first one fails', async () => {
  const cache = createResponseCache(LIMITS);
  let calls = 0;
  const run = async (): Promise<readonly Bytes[]> => {
    calls += 1;
    if (calls === 1) throw new Error('its client has gone');
    return body('good');
  };
  const [first, second] = await Promise.allSettled([cache.answer(question('a'), run), cache.answer(question('a'), run)]);
  expect(first).toMatchObject({ status: 'rejected' });
  expect(second).toEqual({ status: 'fulfilled', value: ['good'] });
});

it('shares nothing that is for one client', async () => {
  const cache = createResponseCache(LIMITS);
  let calls = 0;
  const run = async (markUnique: () => void): Promise<readonly Bytes[]> => {
    calls += 1;
    markUnique();
    return body(String(calls));
  };
  const answers = await Promise.all([cache.answer(question('a'), run), cache.answer(question('a'), run)]);
  expect(answers).toEqual([['1'], ['2']]);
  expect(cache.memory).toBe(0);
});

it.each([
  ['snapshots', { snapshot: {} }],
  ['roles', { session: { role: 'other', variables: new Map(), backendOnly: false } }],
  ['rights of backends', { session: { role: 'user', variables: new Map(), backendOnly: true } }],
])('tells %s apart', async (_, more) => {
  const cache = createResponseCache(LIMITS);
  await cache.answer(question('a'), async () => body('one'));
  expect(await cache.answer(question('a', more as Partial<CacheQuestion>), async () => body('two'))).toEqual(['two']);
});
