import { ResultMemory } from '../pipeline/result-memory.ts';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { SvcError } from '../errors/svc-error.ts';
import type { RoleSchema } from '../graphql-engine/translation.ts';
import { bytesOfText, textOfBytes } from '../util/bytes.ts';
import { layoutKey } from '../util/json-layout.ts';
import { Detector } from './detector.ts';
import { Poller } from './poller.ts';
import type { CellPart, TemplatePart } from '../plan/plan.ts';
import type { PollerWork } from './poller-work.ts';
import { CacheBudget } from './version.ts';
import { Member } from './cohort.ts';
import { FakeLiveDatabase, queryOf, RecordingSubscriber } from '../../test/support/fake-live-database.ts';

const SESSION = { role: 'user', variables: new Map<string, string>(), backendOnly: false };
const REQUEST = { query: '', variables: {}, operationName: null, api: 'graphql' as const };
const INTERVAL = 1000;

let database: FakeLiveDatabase;
let detector: Detector;
let poller: Poller;
let isEmpty = false;
let faults: unknown[] = [];

const CELL: CellPart = { step: 0, column: 0, absent: bytesOfText('null') };
let memory: ResultMemory;

function start(dependsOn: string | null = null, batchSize = 100, template: readonly TemplatePart[] = [CELL], most = 1_000_000): void {
  database = new FakeLiveDatabase();
  detector = new Detector(database.source, 100);
  isEmpty = false;
  const work: PollerWork = {
    source: 'default',
    connection: database.source,
    schema: { introspectionDisabled: false } as RoleSchema,
    role: 'user',
    variant: 'frontend',
    api: 'graphql',
    document: 'subscription { x }',
    labels: ['', ''],
    query: queryOf(dependsOn),
    template: [bytesOfText('{"data":'), ...template, bytesOfText('}')],
    expected: 0,
  };
  const onEmpty = (): void => {
    isEmpty = true;
  };
  const tools = {
    detector,
    cacheBudget: new CacheBudget(1_000_000),
    onRun: () => undefined,
    onFault: (error: unknown) => faults.push(error),
    onEmpty,
  };
  memory = new ResultMemory(most);
  poller = new Poller(work, { refetchIntervalMs: INTERVAL, batchSize, timeoutMs: 5000, responseLimit: 1_500_000, memory }, tools);
}

function join(key: string): RecordingSubscriber & { member: Member } {
  const subscriber = new RecordingSubscriber();
  const member: Member = new Member(SESSION, REQUEST, subscriber, () => member.leave());
  poller.join(member, [key]);
  return Object.assign(subscriber, { member });
}

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => {
  vi.useFakeTimers();
  start();
});
afterEach(() => {
  expect(faults.splice(0)).toEqual([]);
  poller.close();
  vi.useRealTimers();
});

describe('a poller', () => {
  test('runs at once for new subscribers in one batch, and not again without a write', async () => {
    database.rows.set('a', '1');
    const all = [join('a'), join('a'), join('b')];
    await pass(5);
    expect(all.map(({ answers }) => answers)).toEqual([['{"data":1}'], ['{"data":1}'], ['{"data":null}']]);
    expect(all[0]?.bodies[0]).toBe(all[1]?.bodies[0]);
    await pass(10_000);
    expect(database.batches).toEqual([['a', 'b']]);
    expect(database.polls).toBe(100);
  });

  test('runs after a detected change, at most once per interval', async () => {
    const one = join('a');
    await pass(500);
    database.write('a', '2');
    await pass(490);
    expect(database.batches).toHaveLength(1);
    await pass(20);
    expect(one.answers.at(-1)).toBe('{"data":2}');
    await pass(5_000);
    database.write('a', '3');
    await pass(110);
    expect(one.answers.at(-1)).toBe('{"data":3}');
    database.write('a', '4');
    detector.wake();
    await pass(INTERVAL);
    expect(one.answers.at(-1)).toBe('{"data":4}');
    await pass(5_000);
    expect(database.batches).toHaveLength(4);
  });

  test('runs at once after a write of this instance', async () => {
    const one = join('a');
    await pass(5_050);
    database.write('a', '2');
    detector.wake();
    await pass(2);
    expect(one.answers.at(-1)).toBe('{"data":2}');
  });

  test('runs every interval if changes cannot be detected, and sends only changes', async () => {
    poller.close();
    start('a view');
    const one = join('a');
    await pass(10 * INTERVAL + 500);
    expect(database.batches).toHaveLength(11);
    expect(database.polls).toBe(0);
    expect(one.answers).toHaveLength(1);
    database.rows.set('a', '5');
    await pass(INTERVAL);
    expect(one.answers).toHaveLength(2);
  });

  test('runs every interval for values that depend on the time, and for them alone', async () => {
    join('a');
    join('now');
    await pass(3 * INTERVAL + 500);
    expect(database.batches).toEqual([['a', 'now'], ['now'], ['now'], ['now']]);
  });

  test('runs every interval while the database reports no snapshot', async () => {
    join('a');
    await pass(500);
    database.hasSnapshots = false;
    await pass(3 * INTERVAL);
    expect(database.batches.length).toBeGreaterThanOrEqual(3);
    database.hasSnapshots = true;
    await pass(2 * INTERVAL);
    const { length } = database.batches;
    await pass(5 * INTERVAL);
    expect(database.batches).toHaveLength(length);
  });

  test('discards the snapshot when its connection is lost, even if the number recurs', async () => {
    const one = join('a');
    await pass(5_050);
    const { length } = database.batches;
    database.rows.set('a', '9');
    database.loseConnection();
    await pass(INTERVAL);
    expect(database.batches.length).toBeGreaterThan(length);
    expect(one.answers.at(-1)).toBe('{"data":9}');
  });

  test('sends the current answer to a new subscriber without a query, unless this instance has written', async () => {
    join('a');
    await pass(500);
    const late = join('a');
    await pass(1);
    expect(late.answers).toEqual(['{"data":null}']);
    expect(database.batches).toHaveLength(1);
    database.write('a', '2');
    await pass(100);
    const later = join('a');
    await pass(5);
    expect(later.answers).toEqual(['{"data":2}']);
    expect(late.answers).toEqual(['{"data":null}', '{"data":2}']);
  });

  test('splits into batches', async () => {
    poller.close();
    start(null, 2);
    const all = ['a', 'b', 'c', 'd', 'e'].map(join);
    await pass(10);
    expect(database.batches).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
    expect(all.every(({ answers }) => answers.length === 1)).toBe(true);
  });

  test('isolates the cohort that fails, and the others get their answers', async () => {
    const error = new SvcError('data-exception', 'wrong');
    database.failing.set('c', error);
    database.failing.set('d', new SvcError('data-exception', 'for now'));
    database.wrong.add('c');
    const all = ['a', 'b', 'c', 'd', 'e'].map(join);
    await pass(20);
    expect(all.map(({ answers }) => answers.length)).toEqual([1, 1, 0, 0, 1]);
    expect(all[2]?.errors).toEqual([['wrong', true]]);
    expect(all[3]?.errors).toEqual([['for now', false]]);
    expect(all[2]?.member.isOver).toBe(true);
    await pass(2 * INTERVAL);
    expect(database.batches.at(-1)).toEqual(['d']);
    expect(all[3]?.errors).toHaveLength(1);
    database.failing.clear();
    await pass(8 * INTERVAL);
    expect(all[3]?.answers).toEqual(['{"data":null}']);
  });

  test('retries cohorts that timed out alone, later', async () => {
    database.failing.set('b', new SvcError('timeout', 'late'));
    const all = ['a', 'b'].map(join);
    await pass(20);
    expect(database.batches).toEqual([['a', 'b']]);
    await pass(2 * INTERVAL + 20);
    expect(database.batches.slice(1)).toEqual([['a'], ['b']]);
    expect(all.map(({ answers }) => answers.length)).toEqual([1, 0]);
    expect(all[1]?.errors).toEqual([['late', false]]);
  });

  test('runs slow cohorts separately, so that others do not wait for them', async () => {
    database.slow.set('b', 3_000);
    const [a, b, c] = ['a', 'b', 'c'].map(join);
    await pass(3_010);
    expect([a, b, c].map((one) => one?.answers.length)).toEqual([1, 1, 1]);
    for (const value of ['1', '2', '3']) {
      for (const key of ['a', 'b', 'c']) database.write(key, value);
      await pass(INTERVAL + 110);
      expect([a, c].map((one) => one?.answers.at(-1))).toEqual([`{"data":${value}}`, `{"data":${value}}`]);
    }
    await pass(3_000);
    expect(b?.answers.at(-1)).toBe('{"data":3}');
    expect(database.batches.filter((keys) => keys.includes('b') && keys.length > 1)).toHaveLength(1);
    database.slow.clear();
    for (const value of ['4', '5']) {
      for (const key of ['a', 'b', 'c']) database.write(key, value);
      await pass(2 * INTERVAL);
    }
    expect(database.batches.at(-1)).toEqual(['a', 'b', 'c']);
  });

  test('runs two slow cohorts at a time, at most once per interval', async () => {
    const keys = ['a', 'b', 'c', 'd'];
    for (const key of keys) database.slow.set(key, 400);
    const all = keys.map(join);
    await pass(1_700);
    database.batches = [];
    for (let i = 0; i < 20; i++) {
      database.write('x', `${i}`);
      await pass(500);
    }
    for (const key of keys) expect(database.batches.filter(([first]) => first === key).length).toBeGreaterThanOrEqual(9);
    expect(database.batches.length).toBeLessThanOrEqual(44);
    expect(database.mostConcurrent).toBe(2);
    expect(all.every(({ answers }) => answers.length === 1)).toBe(true);
  });

  test('yields to other work while it sends answers', async () => {
    vi.useRealTimers();
    start('a view');
    const all = Array.from({ length: 400 }, () => join('a'));
    let turns = 0;
    for (const one of all) {
      one.next = (answer) => {
        const end = performance.now() + 0.1;
        while (performance.now() < end);
        one.answers.push(textOfBytes(answer.body));
      };
    }
    const timer = setInterval(() => {
      if (all.some(({ answers }) => answers.length > 0)) turns += 1;
    });
    while (all.some(({ answers }) => answers.length === 0)) await new Promise((resolve) => setTimeout(resolve, 1));
    clearInterval(timer);
    expect(turns).toBeGreaterThan(3);
    expect(all.every(({ answers }) => answers.length === 1)).toBe(true);
  });

  test('sends nothing after it is closed', async () => {
    const all = Array.from({ length: 10 }, () => join('a'));
    const third = all[2] as (typeof all)[number];
    third.next = () => poller.close();
    await pass(100);
    expect(all.map(({ answers }) => answers.length)).toEqual([1, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
  });

  test('does not report a short outage of the database, and then sends the current answer', async () => {
    const one = join('a');
    await pass(500);
    database.write('a', '2');
    database.failing.set('a', new SvcError('database-error', 'connection error', { isTransient: true }));
    await pass(3 * INTERVAL);
    expect(one.errors).toEqual([]);
    database.failing.clear();
    await pass(INTERVAL + 100);
    expect(one.answers).toEqual(['{"data":null}', '{"data":2}']);
    database.write('a', '3');
    database.failing.set('a', new SvcError('postgres-error', 'connection error', { isTransient: true }));
    await pass(20 * INTERVAL);
    expect(one.errors).toEqual([['connection error', false]]);
    database.failing.clear();
    await pass(2 * INTERVAL);
    expect(one.answers.at(-1)).toBe('{"data":3}');
  });

  test('sends nothing to a subscriber that is not ready, and the newest answer afterwards', async () => {
    const [slow, quick] = [join('a'), join('a')];
    await pass(500);
    slow.isReady = false;
    for (const value of ['2', '3']) {
      database.write('a', value);
      await pass(INTERVAL + 200);
    }
    expect(quick.answers).toHaveLength(3);
    slow.isReady = true;
    slow.member.drained();
    expect(slow.answers).toEqual(['{"data":null}', '{"data":3}']);
    slow.isReady = false;
    quick.isReady = false;
    const { length } = database.batches;
    database.write('a', '4');
    await pass(3 * INTERVAL);
    expect(database.batches).toHaveLength(length); // No subscriber is ready.
    slow.isReady = true;
    slow.member.drained();
    await pass(5);
    expect(slow.answers.at(-1)).toBe('{"data":4}');
  });

  test('drops answers in progress when it is closed', async () => {
    const one = join('a');
    await pass(0);
    expect(database.batches).toHaveLength(1);
    poller.close();
    await pass(5_000);
    expect(one.answers).toEqual([]);
    expect(detector.isIdle).toBe(true);
  });

  test('continues if a subscriber throws against its contract', async () => {
    const [wrong, other] = [join('a'), join('b')];
    wrong.next = () => {
      throw new Error('broken');
    };
    await pass(500);
    expect(faults).toHaveLength(1);
    faults = [];
    await pass(3 * INTERVAL);
    expect(other.answers).toEqual(['{"data":null}']);
  });

  test('stops when the last subscriber has left', async () => {
    const all = [join('a'), join('b')];
    await pass(500);
    for (const { member } of all) member.close();
    expect(isEmpty).toBe(true);
    poller.close();
    const { polls } = database;
    await pass(5_000);
    expect(database.polls).toBe(polls);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('stores a hash of an answer that is too large to cache', async () => {
    database.rows.set('a', JSON.stringify('x'.repeat(100_000)));
    const one = join('a');
    await pass(500);
    database.write('b', '1');
    await pass(2 * INTERVAL);
    expect(database.batches).toHaveLength(2);
    expect(one.answers).toHaveLength(1);
    database.write('a', JSON.stringify('y'.repeat(100_000)));
    await pass(2 * INTERVAL);
    expect(one.answers).toHaveLength(2);
  });

  test('reads an answer that is too large to cache for a new subscriber', async () => {
    database.rows.set('a', JSON.stringify('x'.repeat(100_000)));
    join('a');
    await pass(5_000);
    const late = join('a');
    await pass(INTERVAL);
    expect(late.answers).toHaveLength(1);
    expect(database.batches).toHaveLength(2);
  });

  test('reads an answer that is too large to cache again for a subscriber that was not ready', async () => {
    const [slow, quick] = [join('a'), join('a')];
    await pass(500);
    slow.isReady = false;
    database.write('a', JSON.stringify('x'.repeat(100_000)));
    await pass(5 * INTERVAL);
    const { length } = database.batches;
    slow.isReady = true;
    slow.member.drained();
    await pass(INTERVAL);
    expect(database.batches).toHaveLength(length + 1);
    expect([slow, quick].map(({ answers }) => answers.length)).toEqual([2, 2]);
    await pass(5 * INTERVAL);
    expect(database.batches).toHaveLength(length + 1);
  });
});

describe('the result budget', () => {
  const LAYOUT = { layout: Array.from({ length: 12 }, (_, n) => ({ key: layoutKey(`b${n}`), from: 0, inner: null })), of: [CELL] };
  const LARGE = JSON.stringify({ b: 'x'.repeat(100_000) });

  test.each([
    ['cells', Array.from({ length: 12 }, () => CELL)],
    ['layouts', [LAYOUT]],
  ])(
    'has no room for what %s print: the others of the batch get their answers, and an error follows after five seconds',
    async (_, parts) => {
      poller.close();
      start('a view', 100, parts);
      database.rows.set('a', LARGE);
      database.rows.set('b', JSON.stringify({ b: 1 }));
      const [large, other] = [join('a'), join('b')];
      await pass(3 * INTERVAL);
      expect([large.answers.length, large.errors, other.answers.length]).toEqual([0, [], 1]);
      await pass(5 * INTERVAL + 500);
      expect(large.errors).toEqual([[expect.stringContaining('the responses of all requests together'), false]]);
      expect([memory.used, memory.reserved]).toEqual([0, 0]);
      database.rows.set('a', JSON.stringify({ b: 2 }));
      await pass(2 * INTERVAL);
      expect(large.answers).toHaveLength(1);
    },
  );

  test('counts a printed answer until it is sent', async () => {
    poller.close();
    start('a view', 100, [LAYOUT]);
    database.rows.set('a', JSON.stringify({ b: 'x'.repeat(40_000) }));
    const all = [join('a'), join('a')];
    const held: number[] = [];
    for (const one of all) one.next = () => held.push(memory.used);
    await pass(500);
    // Counted once for both subscribers: the answer was read once and is printed twelve times.
    expect(held).toEqual([expect.closeTo(13 * 40_000, -3), expect.closeTo(13 * 40_000, -3)]);
    expect([memory.used, memory.reserved]).toEqual([0, 0]);
  });

  test('is released when a poller is closed while it sends', async () => {
    poller.close();
    start('a view', 100, [LAYOUT]);
    database.rows.set('a', JSON.stringify({ b: 'x'.repeat(40_000) }));
    const one = join('a');
    join('b');
    const held: number[] = [];
    one.next = () => {
      held.push(memory.used);
      poller.close();
    };
    await pass(500);
    expect(held).toEqual([expect.closeTo(13 * 40_000, -3)]);
    expect([memory.used, memory.reserved]).toEqual([0, 0]);
  });

  test('is reserved per cohort by its last result, and for a new cohort by the average', async () => {
    poller.close();
    start('a view');
    const expected: number[] = [];
    const { runRows } = database.source;
    database.source.runRows = (...of) => {
      expected.push(memory.reserved);
      return runRows(...of);
    };
    for (const key of ['a', 'b']) database.rows.set(key, JSON.stringify('x'.repeat(70_000)));
    const all = [join('a'), join('b'), join('c'), join('d')];
    await pass(INTERVAL + 100);
    for (const one of all.slice(1)) one.member.close();
    await pass(INTERVAL);
    expect(expected).toEqual([0, expect.closeTo(140_000, -2), expect.closeTo(70_000, -2)]);
  });

  test('rejects only the answer that exceeds the limit, and retries with growing pauses', async () => {
    poller.close();
    start('a view', 100, [LAYOUT, LAYOUT], 10_000_000);
    database.rows.set('a', LARGE);
    const [large, other] = [join('a'), join('b')];
    await pass(20 * INTERVAL);
    expect(large.errors).toEqual([['the response exceeds 1500000 bytes', false]]);
    expect(other.answers).toHaveLength(1);
    expect(database.batches.filter((keys) => keys.includes('a')).length).toBeLessThan(8);
  });
});
