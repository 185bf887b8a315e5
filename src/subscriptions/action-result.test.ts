import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { SvcError } from '../errors/svc-error.ts';
import { bytesOfText, textOfBytes } from '../util/bytes.ts';
import { ActionResultSubscription, type ResultLookup, type NextLookup } from './action-result.ts';
import { CallWaits } from './call-waits.ts';
import type { Subscriber } from './subscriptions.ts';

/** One subscriber of a result, with the events that it got. */
class Heard implements Subscriber {
  readonly all: string[] = [];
  readonly faults: unknown[] = [];
  isReady = true;
  closed = 0;
  next: Subscriber['next'] = ({ body }) => void this.all.push(textOfBytes(body));
  failed: Subscriber['failed'] = ([error], final) => void this.all.push(`${final ? 'ended' : 'interrupted'} by ${error?.code}`);
  complete = (): void => void this.all.push('complete');
  ready = (): boolean => this.isReady;
}

/** Number of lookups in memory. */
let held = 0;

function lookOf(text: string, next: NextLookup): ResultLookup {
  held += 1;
  const release = (): void => {
    held -= 1;
  };
  return { body: [bytesOfText(text)], next, release };
}

function look(text: string, isFinal = false): ResultLookup {
  return lookOf(text, { when: isFinal ? 'never' : 'soon' });
}

function subscribe(looks: () => ResultLookup): { readonly heard: Heard; readonly subscription: ActionResultSubscription } {
  const heard = new Heard();
  const subscription = new ActionResultSubscription(async () => looks(), NO_WAITS, heard, {
    onFault: (error) => void heard.faults.push(error),
    onClose: () => {
      heard.closed += 1;
    },
  });
  subscription.start();
  return { heard, subscription };
}

const NO_WAITS = { add: () => () => undefined };
const AWAY = new SvcError('postgres-error', 'connection error', { isTransient: true });

describe('the result of an asynchronous action', () => {
  test('is looked up when the handler has responded, with one query for all subscribers', async () => {
    const asked: (readonly string[])[] = [];
    let waiting = new Set(['1', '2']);
    let isAway = false;
    const waits = new CallWaits(async (ids) => {
      asked.push(ids);
      if (isAway) throw AWAY;
      return waiting;
    });
    const looks: string[] = [];
    const open = (id: string): Heard => {
      const heard = new Heard();
      const listener = { onFault: () => undefined, onClose: () => undefined };
      const find = async (): Promise<ResultLookup> => {
        looks.push(id);
        const isDone = !waiting.has(id);
        return lookOf(`${id} ${isDone}`, isDone ? { when: 'never' } : { when: 'answered', id });
      };
      const subscription = new ActionResultSubscription(find, waits, heard, listener);
      subscription.start();
      return heard;
    };
    const all = ['1', '1', '2'].map(open);
    await vi.advanceTimersByTimeAsync(3500);
    expect([asked.length, asked[2], looks]).toEqual([3, ['1', '2'], ['1', '1', '2']]);
    isAway = true;
    await vi.advanceTimersByTimeAsync(2000);
    isAway = false;
    waiting = new Set(['2']);
    await vi.advanceTimersByTimeAsync(1000);
    expect(all.map((heard) => heard.all)).toEqual([['1 false', '1 true', 'complete'], ['1 false', '1 true', 'complete'], ['2 false']]);
    expect(looks).toHaveLength(5);
    waiting = new Set();
    await vi.advanceTimersByTimeAsync(1000);
    expect(vi.getTimerCount()).toBe(0);
  });

  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => {
    vi.useRealTimers();
    expect(held).toBe(0);
  });

  test('is sent when it changes, and ends once it is final', async () => {
    let now = (): ResultLookup => look('a');
    const { heard } = subscribe(() => now());
    await vi.advanceTimersByTimeAsync(3000);
    expect(heard.all).toEqual(['a']);
    now = () => look('b', true);
    await vi.advanceTimersByTimeAsync(1000);
    expect(heard.all).toEqual(['a', 'b', 'complete']);
    expect([heard.closed, vi.getTimerCount()]).toEqual([1, 0]);
  });

  test('is looked up again if the metadata has changed meanwhile', async () => {
    let answer: (look: ResultLookup) => void = () => undefined;
    const heard = new Heard();
    const listener = { onFault: () => undefined, onClose: () => undefined };
    const subscription = new ActionResultSubscription(() => new Promise((resolve) => (answer = resolve)), NO_WAITS, heard, listener);
    subscription.start();
    await vi.advanceTimersByTimeAsync(1);
    subscription.changed();
    answer(look('hidden'));
    await vi.advanceTimersByTimeAsync(1);
    heard.isReady = false;
    answer(look('not taken', true));
    await vi.advanceTimersByTimeAsync(1);
    expect(held).toBe(0);
    heard.isReady = true;
    subscription.drained();
    await vi.advanceTimersByTimeAsync(1);
    answer(look('shown', true));
    await vi.advanceTimersByTimeAsync(1);
    expect(heard.all).toEqual(['shown', 'complete']);
  });

  test('is not looked up before the client is ready', async () => {
    let looks = 0;
    const { heard, subscription } = subscribe(() => {
      looks += 1;
      return look('a', true);
    });
    heard.isReady = false;
    await vi.advanceTimersByTimeAsync(5000);
    expect([heard.all, looks]).toEqual([[], 0]);
    heard.isReady = true;
    subscription.drained();
    await vi.advanceTimersByTimeAsync(1);
    expect(heard.all).toEqual(['a', 'complete']);
  });

  test('does not report a short outage of the database', async () => {
    let isAway = false;
    const { heard } = subscribe(() => {
      if (isAway) throw AWAY;
      return look('a');
    });
    await vi.advanceTimersByTimeAsync(1000);
    isAway = true;
    await vi.advanceTimersByTimeAsync(4000);
    isAway = false;
    await vi.advanceTimersByTimeAsync(5000);
    expect([heard.all, heard.closed]).toEqual([['a'], 0]);
  });

  test('reports a longer outage once, and continues afterwards', async () => {
    let isAway = false;
    const { heard } = subscribe(() => {
      if (isAway) throw AWAY;
      return look('a');
    });
    await vi.advanceTimersByTimeAsync(1000);
    isAway = true;
    await vi.advanceTimersByTimeAsync(20_000);
    expect(heard.all).toEqual(['a', 'interrupted by postgres-error']);
    isAway = false;
    await vi.advanceTimersByTimeAsync(1000);
    expect([heard.all, heard.closed]).toEqual([['a', 'interrupted by postgres-error', 'a'], 0]);
  });

  test('ends when it can no longer be planned, and logs unexpected errors', async () => {
    const refused = subscribe(() => {
      throw new SvcError('validation-failed', 'no such field');
    });
    const broken = subscribe(() => {
      throw new TypeError('of ours');
    });
    await vi.advanceTimersByTimeAsync(5000);
    expect([refused.heard.all, refused.heard.closed, refused.heard.faults]).toEqual([['ended by validation-failed'], 1, []]);
    expect([broken.heard.all, broken.heard.closed]).toEqual([['ended by unexpected'], 1]);
    expect(broken.heard.faults).toEqual([new TypeError('of ours')]);
  });
});
