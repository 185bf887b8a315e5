import { expect, it } from 'vitest';
import type { Bytes } from '../util/bytes.ts';
import { CancellationSource } from '../util/cancellation.ts';
import { type CacheStatus, type CacheRequest, type CompressedCopies, createResponseCache } from './response-cache.ts';

const LIMITS = { memory: 5000, maxEntrySize: 2000, maxTtl: 60 };
const snapshot = {};

/** A request whose statement is this text. */
function question(text: string, more: Partial<CacheRequest> = {}): CacheRequest {
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
    isOfBatch: false,
    ...more,
  } as unknown as CacheRequest;
}

const body = (text: string): readonly Bytes[] => [text as Bytes];

it('limits its size and evicts the least recently used response', async () => {
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

const settled = (answers: readonly Promise<unknown>[]) => Promise.allSettled(answers);

it('fails all waiting requests together', async () => {
  const cache = createResponseCache(LIMITS);
  let calls = 0;
  const run = async (): Promise<readonly Bytes[]> => {
    calls += 1;
    throw new Error('the database is away');
  };
  const outcomes = await settled(Array.from({ length: 5 }, () => cache.answer(question('a'), run)));
  expect(outcomes.map(({ status }) => status)).toEqual(new Array(5).fill('rejected'));
  expect(calls).toBe(1);
  expect(await cache.answer(question('a'), async () => body('again'))).toEqual(['again']);
});

it.each([
  ['went away', { signal: AbortSignal.abort() }],
  ['had no more time', { deadline: 1 }],
  ['is held to the bounds of its batch', { isOfBatch: true }],
])('lets a waiting request run if the running one %s', async (_, more) => {
  const cache = createResponseCache(LIMITS);
  let calls = 0;
  const run = async (): Promise<readonly Bytes[]> => {
    calls += 1;
    await new Promise((resolve) => setImmediate(resolve));
    if (calls === 1) throw new Error('given up');
    return body('good');
  };
  const first = cache.answer(question('a', more), run);
  const others = Array.from({ length: 5 }, () => cache.answer(question('a'), run));
  const [failed, ...answers] = await settled([first, ...others]);
  expect(failed).toMatchObject({ status: 'rejected' });
  expect(answers).toEqual(new Array(5).fill({ status: 'fulfilled', value: ['good'] }));
  expect(calls).toBe(2);
});

it('limits the wait of a request by its own deadline and cancellation', async () => {
  const cache = createResponseCache(LIMITS);
  let finish = (_: readonly Bytes[]): void => undefined;
  const first = cache.answer(question('a'), () => new Promise((resolve) => (finish = resolve)));
  const leaving = new CancellationSource();
  const never = async (): Promise<readonly Bytes[]> => body('never');
  const late = cache.answer(question('a', { deadline: Date.now() + 20 }), never);
  const gone = cache.answer(question('a', { signal: leaving }), never);
  const patient = cache.answer(question('a'), never);
  await expect(late).rejects.toMatchObject({ code: 'timeout' });
  leaving.cancel();
  await expect(gone).rejects.toMatchObject({ code: 'timeout' });
  finish(body('good'));
  expect(await Promise.all([first, patient])).toEqual([['good'], ['good']]);
});

it('caches compressed copies within the same limits, as long as the response', async () => {
  const cache = createResponseCache(LIMITS);
  const copiesOf = async (text: string): Promise<CompressedCopies | null> => {
    let copies: CompressedCopies | null = null;
    const onNote = (note: CacheStatus): void => {
      copies = note.copies;
    };
    await cache.answer(question(text, { onNote }), async () => body('x'.repeat(1000)));
    return copies;
  };
  const first = await copiesOf('a');
  const before = cache.memory;
  first?.store('gzip', 'y'.repeat(300) as Bytes);
  expect(cache.memory).toBe(before + 300);
  first?.store('gzip', 'z'.repeat(300) as Bytes);
  expect((await copiesOf('a'))?.get('gzip')).toBe('y'.repeat(300));
  expect(first?.get('br')).toBeUndefined();
  for (const text of ['b', 'c', 'd']) (await copiesOf(text))?.store('gzip', 'y'.repeat(900) as Bytes);
  expect(cache.memory).toBeLessThanOrEqual(LIMITS.memory);
  cache.clear({});
  expect(cache.memory).toBe(0);
  first?.store('br', 'late' as Bytes);
  expect(cache.memory).toBe(0);
});

it('does not confuse a cleared response with a newer one', async () => {
  const cache = createResponseCache(LIMITS);
  let finish = (_: readonly Bytes[]): void => undefined;
  const notes: CacheStatus[] = [];
  const first = cache.answer(question('a'), () => new Promise((resolve) => (finish = resolve)));
  const second = cache.answer(question('a', { onNote: (note) => void notes.push(note) }), async () => body('never'));
  cache.clear({});
  await cache.answer(question('a'), async () => body('new'));
  finish(body('old'));
  expect(await Promise.all([first, second])).toEqual([['old'], ['old']]);
  expect(notes).toMatchObject([{ isHit: true, left: null, copies: null }]);
});

it('does not cache responses with joins on volatile functions', async () => {
  const cache = createResponseCache(LIMITS);
  const { plan } = question('a');
  const join = { kind: 'source', target: { source: 'other', columns: [] }, statement: { text: 'dice', repeatable: false }, binders: [] };
  const request = question('a', { plan: { ...plan, joins: [join] } } as unknown as Partial<CacheRequest>);
  await cache.answer(request, async () => body('one'));
  expect(await cache.answer(request, async () => body('two'))).toEqual(['two']);
});

it('uses equal keys under all snapshots, and clears responses by key', async () => {
  const cache = createResponseCache(LIMITS);
  const keys = new Set<string>();
  const onNote = ({ key }: CacheStatus): void => void keys.add(key);
  for (const snapshot of [{}, {}]) await cache.answer(question('a', { snapshot, onNote }), async () => body('one'));
  await cache.answer(question('b'), async () => body('one'));
  expect(keys.size).toBe(1);
  const [key = ''] = keys;
  expect(cache.clear({ key })).toBe(2);
  expect(cache.clear({})).toBe(1);
});

it('does not share responses for one client', async () => {
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
])('distinguishes %s', async (_, more) => {
  const cache = createResponseCache(LIMITS);
  await cache.answer(question('a'), async () => body('one'));
  expect(await cache.answer(question('a', more as Partial<CacheRequest>), async () => body('two'))).toEqual(['two']);
});

it('drops responses of outdated snapshots', async () => {
  const cache = createResponseCache(LIMITS);
  const [before, after] = [{}, {}];
  cache.follow(before);
  for (const text of ['a', 'b']) await cache.answer(question(text, { snapshot: before }), async () => body('answer'));
  expect(cache.memory).toBeGreaterThan(0);
  let finish = (): void => undefined;
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const notes: CacheStatus[] = [];
  const late = cache.answer(question('c', { snapshot: before, onNote: (note) => void notes.push(note) }), async () => {
    await finished;
    return body('late');
  });
  cache.follow(after);
  finish();
  expect(await late).toEqual(['late']);
  expect(notes).toMatchObject([{ left: null, copies: null }]);
  expect([cache.memory, cache.clear({})]).toEqual([0, 0]);
  await cache.answer(question('a', { snapshot: after }), async () => body('new'));
  expect(cache.clear({})).toBe(1);
});

it('clears a response by the family of any operation that shared it', async () => {
  const cache = createResponseCache({ ...LIMITS, memory: 50_000 });
  const ask = async (name: string): Promise<CacheStatus> => {
    const notes: CacheStatus[] = [];
    const request = { query: 'query', operationName: name, variables: {} };
    await cache.answer(
      question('a', { request, operation: {}, onNote: (note) => void notes.push(note) } as Partial<CacheRequest>),
      async () => body('answer'),
    );
    return notes[0] as CacheStatus;
  };
  const [one, two] = [await ask('One'), await ask('Two')];
  expect([two.isHit, two.key === one.key, two.family === one.family]).toEqual([true, true, false]);
  for (const { family } of [one, two]) {
    expect(cache.clear({ family })).toBe(1);
    await ask('One');
    await ask('Two');
  }
  const many = [];
  for (let i = 0; i < 50; i++) many.push(await ask(`Many${i}`));
  expect(cache.clear({ family: many.at(-1)?.family ?? '' })).toBe(1);
  expect(cache.memory).toBe(0);
});
