import { afterEach, describe, expect, it, vi } from 'vitest';
import type { EventStore, FetchRequest, Lease, QueuedEvent } from '../backend/event-store.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { Observation } from '../observability/observation.ts';
import { onCancel } from '../util/cancellation.ts';
import { createEngine, type Engine, type QueueHandle } from './engine.ts';
import { WAIT } from '../../test/support/wait.ts';
import type { TriggerQueueConfig } from './queue.ts';

interface Done {
  readonly id: string;
}

/** A queue in memory that records its calls. */
class MemoryStore implements EventStore<QueuedEvent, Done> {
  readonly waiting: QueuedEvent[] = [];
  readonly leased = new Map<string, { readonly event: QueuedEvent; holder: string }>();
  readonly recorded: string[][] = [];
  readonly released: string[] = [];
  readonly fetches: FetchRequest[] = [];
  fails = 0;
  /** Events whose outcomes cannot be written. */
  readonly unwritable = new Set<string>();
  wake: () => void = () => undefined;

  put(...events: readonly QueuedEvent[]): void {
    this.waiting.push(...events);
    this.wake();
  }

  async fetch(request: FetchRequest): Promise<readonly QueuedEvent[]> {
    this.fetches.push(request);
    this.mayFail();
    const taken: QueuedEvent[] = [];
    const isFull = (): boolean => taken.reduce((sum, { size = 0 }) => sum + size, 0) >= (request.bytes ?? 0);
    for (const { name, limit } of request.queues) {
      const events = this.waiting.filter(({ queue }) => queue === name).slice(0, Math.min(limit, request.limit - taken.length));
      for (const event of events) {
        if (isFull()) return taken;
        taken.push(event);
        this.waiting.splice(this.waiting.indexOf(event), 1);
        this.leased.set(event.id, { event, holder: request.lease.holder });
      }
    }
    return taken;
  }

  async renew({ holder }: Lease, ids: readonly string[]): Promise<readonly string[]> {
    return ids.filter((id) => this.leased.get(id)?.holder === holder);
  }

  /** Events that are due again once. */
  readonly again = new Set<string>();

  async record({ holder }: Lease, outcomes: readonly Done[]): Promise<readonly string[]> {
    this.mayFail();
    if (outcomes.some(({ id }) => this.unwritable.has(id))) throw new SvcError('data-exception', 'value is out of range');
    for (const { id } of outcomes) {
      const leased = this.leased.get(id);
      if (leased === undefined || !this.again.delete(id)) continue;
      this.leased.delete(id);
      this.put(leased.event);
      // Other instances see the outcome before this one gets the response.
      await new Promise((resolve) => setTimeout(resolve, 100));
      return [id];
    }
    const ids = outcomes.map(({ id }) => id).filter((id) => this.leased.get(id)?.holder === holder);
    for (const id of ids) this.leased.delete(id);
    this.recorded.push(ids);
    return ids;
  }

  async release({ holder }: Lease, ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const leased = this.leased.get(id);
      if (leased?.holder !== holder) continue;
      this.leased.delete(id);
      this.waiting.push(leased.event);
      this.released.push(id);
    }
  }

  async listen(wake: () => void): Promise<{ stop(): Promise<void> }> {
    this.wake = wake;
    return { stop: async () => undefined };
  }

  get done(): readonly string[] {
    return this.recorded.flat();
  }

  private mayFail(): void {
    if (this.fails === 0) return;
    this.fails -= 1;
    throw new Error('the database is away');
  }
}

const engines: Engine[] = [];
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(engines.splice(0).map((engine) => engine.stop(0)));
});

interface Run {
  readonly store: MemoryStore;
  readonly observations: Observation[];
  readonly engine: Engine;
  readonly handle: QueueHandle;
  /** Running events by id, with a function that ends each. */
  readonly working: Map<string, () => void>;
}

function run(
  workers: number,
  queues: readonly TriggerQueueConfig[],
  { leaseSeconds = 60, store = new MemoryStore(), outcomeSize = 0 } = {},
): Run {
  const working = new Map<string, () => void>();
  const observations: Observation[] = [];
  const engine = createEngine({ holder: 'me', workers, batchSize: 100, leaseSeconds, observe: (o) => void observations.push(o) });
  engines.push(engine);
  const handle = engine.add<QueuedEvent, Done>({
    sizeOf: () => outcomeSize,
    name: 'test',
    pollInterval: 20,
    store: () => store,
    triggerQueues: () => queues,
    process: ({ id }, signal) =>
      new Promise((resolve, reject) => {
        working.set(id, () => {
          working.delete(id);
          resolve({ id });
        });
        onCancel(signal, () => reject(new Error('given up')));
      }),
  });
  return { store, observations, engine, handle, working };
}

const events = (queue: string, count: number): readonly QueuedEvent[] =>
  Array.from({ length: count }, (_, i) => ({ id: `${queue}${i}`, queue, tries: 0 }));
const inQueue = (working: ReadonlyMap<string, unknown>, queue: string): number =>
  [...working.keys()].filter((id) => id.startsWith(queue)).length;
const endAll = (working: ReadonlyMap<string, () => void>): void => {
  for (const end of [...working.values()]) end();
};

describe('the engine', () => {
  it('processes events of all queues and records them in batches', async () => {
    const { store, working } = run(10, [{ name: 'a' }, { name: 'b' }]);
    store.put(...events('a', 3), ...events('b', 3));
    await vi.waitFor(() => expect(working.size).toBe(6), WAIT);
    endAll(working);
    await vi.waitFor(() => expect([...store.done].sort()).toEqual(['a0', 'a1', 'a2', 'b0', 'b1', 'b2']), WAIT);
    expect(store.recorded.length).toBeLessThanOrEqual(2);
    expect(store.leased.size).toBe(0);
  });

  it('takes large events only as memory permits', async () => {
    const { store, working } = run(10, [{ name: 'a' }]);
    store.put(...events('a', 7).map((event) => ({ ...event, size: 15_000_000 })));
    for (const [count, left] of [
      [3, 4],
      [3, 1],
      [1, 0],
    ]) {
      await vi.waitFor(() => expect(working.size).toBe(count), WAIT);
      expect(store.waiting.length).toBe(left);
      endAll(working);
    }
    await vi.waitFor(() => expect(store.done.length).toBe(7), WAIT);
  });

  it('writes large outcomes in small batches, and pauses fetching while many wait', async () => {
    const { store, working } = run(10, [{ name: 'a' }], { outcomeSize: 4_000_000 });
    store.put(...events('a', 12));
    await vi.waitFor(() => expect(working.size).toBeGreaterThan(5), WAIT);
    store.fails = 1;
    await vi.waitFor(() => {
      endAll(working);
      expect(store.done.length).toBe(12);
    }, WAIT);
    expect(Math.max(...store.recorded.map(({ length }) => length))).toBe(3);
    expect(Math.min(...store.fetches.map(({ bytes = 0 }) => bytes))).toBeGreaterThan(0);
  });

  it('drops an outcome that cannot be written, and writes the others', async () => {
    const { store, working, observations } = run(10, [{ name: 'a' }, { name: 'b' }]);
    store.unwritable.add('a1');
    store.put(...events('a', 3), ...events('b', 3));
    await vi.waitFor(() => expect(working.size).toBe(6), WAIT);
    endAll(working);
    await vi.waitFor(() => expect([...store.done].sort()).toEqual(['a0', 'a2', 'b0', 'b1', 'b2']), WAIT);
    // Its lease expires.
    expect([...store.leased.keys()]).toEqual(['a1']);
    const message = 'cannot record the outcome of the event a1: value is out of range';
    await vi.waitFor(() => expect(observations).toContainEqual({ kind: 'delivery-trouble', queue: 'test', message }), WAIT);
  });

  it('leaves a worker free for a later queue', async () => {
    const { store, working } = run(10, [{ name: 'a' }, { name: 'b' }, { name: 'c' }]);
    store.put(...events('a', 100));
    await vi.waitFor(() => expect(inQueue(working, 'a')).toBe(7), WAIT);
    store.put(...events('b', 100));
    await vi.waitFor(() => expect(inQueue(working, 'b')).toBeGreaterThanOrEqual(2), WAIT);
    store.put(...events('c', 1));
    await vi.waitFor(() => expect(inQueue(working, 'c')).toBe(1), WAIT);
    expect(working.size).toBeLessThanOrEqual(10);
  });

  it('gives slow queues no more than half of the workers', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const slow = Array.from({ length: 12 }, (_, i) => ({ name: `slow-${i}-` }));
    const { store, working } = run(8, [...slow, { name: 'quick' }]);
    // Every queue has been detected as slow.
    store.put(...slow.flatMap(({ name }) => events(name, 1)));
    for (let ended = 0; ended < slow.length; ) {
      await vi.waitFor(() => expect(working.size).toBeGreaterThan(0), WAIT);
      const begun = [...working.keys()];
      vi.advanceTimersByTime(1050);
      // Events that started meanwhile are not slow yet.
      for (const id of begun) working.get(id)?.();
      ended += begun.length;
    }
    await vi.waitFor(() => expect(store.done.length).toBe(12), WAIT);
    store.put(...slow.flatMap(({ name }) => events(`${name}`, 2).map(({ id, queue }) => ({ id: `${id}x`, queue, tries: 0 }))));
    await vi.waitFor(() => expect(working.size).toBe(4), WAIT);
    store.put(...events('quick', 1));
    await vi.waitFor(() => expect(inQueue(working, 'quick')).toBe(1), WAIT);
  });

  it('fetches for all slow queues, each with a share of their capacity', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const slow = Array.from({ length: 10 }, (_, i) => ({ name: `slow-${i}-` }));
    const { store, working } = run(40, slow);
    store.put(...slow.flatMap(({ name }) => events(name, 1)));
    await vi.waitFor(() => expect(working.size).toBe(10), WAIT);
    vi.advanceTimersByTime(1050);
    endAll(working);
    await vi.waitFor(() => expect(store.done.length).toBe(10), WAIT);
    const before = store.fetches.length;
    store.wake();
    await vi.waitFor(() => expect(store.fetches.length).toBeGreaterThan(before), WAIT);
    const requested = new Map(store.fetches.at(-1)?.queues.map(({ name, limit }) => [name, limit]));
    expect(requested).toEqual(new Map(slow.map(({ name }) => [name, 2])));
  });

  it('requests no queue twice, and fetches nothing without queues', async () => {
    const { store } = run(10, []);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(store.fetches).toEqual([]);
  });

  it('continues after a database outage and records the outcomes of that time', async () => {
    const { store, working, observations } = run(10, [{ name: 'a' }]);
    store.put(...events('a', 2));
    await vi.waitFor(() => expect(working.size).toBe(2), WAIT);
    store.fails = 3;
    endAll(working);
    await vi.waitFor(() => expect(store.done.length).toBe(2), WAIT);
    expect(observations).toContainEqual({
      kind: 'delivery-trouble',
      queue: 'test',
      message: 'cannot record outcomes: the database is away',
    });
  });

  it('does not start events with a lost lease, and reports lost outcomes', async () => {
    const { store, working, observations } = run(2, [{ name: 'a' }], { leaseSeconds: 0.3 });
    store.put(...events('a', 2));
    // Too short a lease to start an event.
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(working.size).toBe(0);
    const other = run(2, [{ name: 'a' }]);
    other.store.put(...events('a', 1));
    await vi.waitFor(() => expect(other.working.size).toBe(1), WAIT);
    other.store.leased.set('a0', { event: { id: 'a0', queue: 'a', tries: 0 }, holder: 'somebody else' });
    endAll(other.working);
    await vi.waitFor(() => expect(other.observations.some(({ kind }) => kind === 'delivery-trouble')).toBe(true), WAIT);
    expect(other.store.done).toEqual([]);
    expect(observations).toEqual([]);
  });

  it('hands back events that have not started or do not end in time', async () => {
    const { store, working, engine } = run(4, [{ name: 'a' }]);
    store.put(...events('a', 10));
    await vi.waitFor(() => expect(working.size).toBe(3), WAIT);
    vi.useFakeTimers({ toFake: ['performance'] });
    const first = [...working.keys()][0] ?? '';
    const stopped = engine.stop(60_000);
    working.get(first)?.();
    await vi.waitFor(() => expect(store.done).toEqual([first]), WAIT);
    vi.advanceTimersByTime(60_000);
    await stopped;
    expect(store.done).toEqual([first]);
    expect(store.leased.size).toBe(0);
    expect(store.waiting.length).toBe(9);
  });

  it('processes an event again that is due before its recording is confirmed', async () => {
    const { store, working } = run(4, [{ name: 'a' }]);
    store.again.add('a0');
    store.put(...events('a', 1));
    await vi.waitFor(() => expect(working.size).toBe(1), WAIT);
    endAll(working);
    await vi.waitFor(() => expect(working.size).toBe(1), WAIT);
    await new Promise((resolve) => setTimeout(resolve, 150));
    endAll(working);
    await vi.waitFor(() => expect(store.done).toEqual(['a0']), WAIT);
    expect(store.leased.size).toBe(0);
  });

  it('fetches at once when the store notifies of events', async () => {
    const { store, working } = run(4, [{ name: 'a' }]);
    await vi.waitFor(() => expect(store.fetches.length).toBeGreaterThan(0), WAIT);
    store.put(...events('a', 1));
    await vi.waitFor(() => expect(working.size).toBe(1), WAIT);
  });
});
