/** One queue of the engine: its fetch loop, its leased events, and the renewal of leases. */
import type { EventStore, TriggerQueueRequest, Lease, QueuedEvent } from '../backend/event-store.ts';
import type { ErrorCode } from '../errors/codes.ts';
import { describeFailure } from '../errors/describe-failure.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { Observer } from '../observability/observation.ts';
import { CancellationSource, type PromptCancellation } from '../util/cancellation.ts';
import type { EventMemory, EventReservation, ReserveMemory } from './event-memory.ts';
import { createRecorder, type Recorder } from './recorder.ts';
import { createWaker, type Waker } from './waker.ts';
import type { Attempt, TriggerQueue, WorkerPool } from './worker-pool.ts';

export interface EventQueueSettings {
  readonly lease: Lease;
  readonly batchSize: number;
  readonly pool: WorkerPool;
  readonly memory: EventMemory;
  readonly observe: Observer;
}

export interface RunningQueue {
  wake(): void;
  /** Resolves when all events are recorded or handed back, or shortly after `graceMs`. */
  stop(graceMs: number): Promise<void>;
}

/** Minimum pause after a fetch with events, in ms: events that arrive meanwhile are fetched together. */
const MIN_GATHER_MS = 5;
/** Maximum of this pause, which grows with the duration of the fetch, in ms. */
const MAX_GATHER_MS = 20;
/** Time that an outcome waits for others, unless other events depend on it, in ms. */
const RECORD_MS = 10;
/** Minimum pause after a fetch without events, in ms: not every wake-up means that there is an event. */
const REST_MS = 20;
/** Pause after a failed fetch, doubled for each further one, in ms. */
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5_000;
/** Time for cancelled events to end, in ms. */
const CANCEL_MS = 2_000;
/** Margin for a retry's due time, since clocks differ, in ms. */
const DUE_MARGIN_MS = 5;
/** Codes of errors that the outcome itself causes, so that a retry would fail, too. */
const REFUSALS: ReadonlySet<string> = new Set(['data-exception', 'constraint-violation', 'unexpected'] satisfies ErrorCode[]);
/** Number of removed trigger queues whose state is kept. */
const MAX_REMOVED_QUEUES = 100;
/** Minimum remaining lease for an event to start, in ms. */
const MIN_LEASE_MS = 5_000;

export function startQueue<E extends QueuedEvent, O extends { readonly id: string }>(
  queue: Queue<E, O>,
  settings: EventQueueSettings,
): RunningQueue {
  const running = new LeasedQueue(queue, settings);
  running.start();
  return running;
}

interface LeasedEvent {
  readonly queue: string;
  /** Number of attempts before this one. */
  tries: number;
  /** Size of the event and its outcome, in characters. */
  size: number;
  /** End of the lease by the local clock, estimated conservatively. */
  leaseEnd: number;
  /** True if the database has not renewed the lease. */
  isLost: boolean;
  /** Set once it has started. */
  cancellation: CancellationSource | undefined;
  /** Memory for data that was read, until the outcome is recorded. */
  reservation: EventReservation | undefined;
  /** True if its outcome waits to be recorded. */
  isDone: boolean;
  /** True while its outcome is being recorded. */
  isRecording: boolean;
}

/** Outcome of an event, to be recorded. */
interface Done<O> {
  readonly outcome: O;
  readonly leased: LeasedEvent;
}

class LeasedQueue<E extends QueuedEvent, O extends { readonly id: string }> implements RunningQueue {
  readonly #queue: Queue<E, O>;
  readonly #settings: EventQueueSettings;
  readonly #triggerQueues = new Map<string, TriggerQueue>();
  /** Events that are not yet recorded or handed back, by id. */
  readonly #leased = new Map<string, LeasedEvent>();
  /** Events to hand back at the end, since there was no time to finish them. */
  readonly #toHandBack: string[] = [];
  readonly #recorder: Recorder<Done<O>>;
  readonly #waker: Waker = createWaker();
  #renewal: NodeJS.Timeout | undefined;
  #listening: { readonly store: EventStore<E, O>; readonly stop: Promise<{ stop(): Promise<void> } | undefined> } | undefined;
  #loop: Promise<void> = Promise.resolve();
  #stopCapacityListener: () => void = () => undefined;
  #isStopping = false;
  /** True if there may be more events than were fetched. */
  #mayHaveMore = false;
  /** True if the end of an event may make another one due. */
  #hasDependants = false;
  #failures = 0;

  constructor(queue: Queue<E, O>, settings: EventQueueSettings) {
    this.#queue = queue;
    this.#settings = settings;
    this.#recorder = createRecorder({
      gather: () => (this.#hasDependants || this.#isStopping ? 0 : RECORD_MS),
      record: async (done) => this.#record(done),
      onFailure: (error) => this.#report('cannot record outcomes', error),
      isRefusal: (error) => error instanceof SvcError && REFUSALS.has(error.code),
      sizeOf: ({ outcome }) => queue.sizeOf?.(outcome) ?? 0,
      onDropped: ({ outcome: { id }, leased }, error) => {
        // The lease is not ended: it expires.
        if (this.#leased.get(id) === leased) this.#drop(id);
        this.#report(`cannot record the outcome of the event ${id}`, error);
      },
    });
  }

  start(): void {
    const { pool, lease } = this.#settings;
    this.#stopCapacityListener = pool.onCapacity(() => {
      if (this.#mayHaveMore) this.#waker.wake();
    });
    this.#renewal = setInterval(() => void this.#renew(), (lease.seconds * 1000) / 3);
    this.#loop = this.#run();
  }

  wake(): void {
    this.#waker.wake();
  }

  async stop(graceMs: number): Promise<void> {
    const end = performance.now() + graceMs;
    this.#isStopping = true;
    this.#waker.wake();
    this.#stopCapacityListener();
    await this.#loop;
    await this.#stopListening();
    for (const queue of this.#triggerQueues.values()) queue.clear();
    await this.#handBack([...this.#leased].flatMap(([id, { cancellation }]) => (cancellation === undefined ? [id] : [])));
    while (this.#leased.size > 0 && performance.now() < end) await this.#waker.wait(Math.min(250, Math.max(1, end - performance.now())));
    for (const { cancellation } of this.#leased.values()) cancellation?.cancel();
    const last = performance.now() + CANCEL_MS;
    while (this.#leased.size > 0 && performance.now() < last) await this.#waker.wait(50);
    this.#recorder.stop();
    clearInterval(this.#renewal);
    await this.#handBack([...this.#toHandBack, ...this.#leased.keys()]);
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      this.#waker.reset();
      const began = performance.now();
      const found = await this.#fetch();
      if (this.#isStopping) return;
      const pause = this.#failures > 0 ? this.#pauseAfterFailure() : this.#queue.pollInterval;
      // Few large fetches load a busy database less than many small ones.
      if (found) await sleep(Math.min(MAX_GATHER_MS, Math.max(MIN_GATHER_MS, performance.now() - began)));
      else {
        const since = performance.now();
        await this.#waker.wait(pause);
        if (!this.#isStopping) await sleep(since + REST_MS - performance.now());
      }
    }
  }

  #pauseAfterFailure(): number {
    return Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#failures - 1));
  }

  /** Returns true if the next fetch should follow at once. */
  async #fetch(): Promise<boolean> {
    const { pool, lease, batchSize } = this.#settings;
    const store = this.#queue.store();
    this.#listenTo(store);
    const configs = this.#queue.triggerQueues();
    if (store === null || configs.length === 0) return false;
    this.#hasDependants = configs.some(({ overall, isOrdered = false }) => overall !== undefined || isOrdered);
    const limit = Math.min(batchSize, pool.capacity);
    const queues = limit === 0 || pool.sizeLeft <= 0 ? [] : this.#requests(configs);
    this.#mayHaveMore = queues.length < configs.length;
    if (queues.length === 0) return false;
    const release = pool.reserve(limit);
    const began = performance.now();
    let events: readonly E[];
    try {
      events = await store.fetch({ lease, limit, bytes: pool.sizeLeft, queues });
      this.#failures = 0;
      this.#queue.onQuery?.((performance.now() - began) / 1000, true);
    } catch (error) {
      this.#failures += 1;
      this.#queue.onQuery?.((performance.now() - began) / 1000, false);
      if (this.#failures === 1) this.#report('cannot fetch events', error);
      return false;
    } finally {
      release();
    }
    const seconds = (performance.now() - began) / 1000;
    const leaseEnd = began + lease.seconds * 1000;
    for (const event of events) this.#add(event, leaseEnd);
    if (events.length > 0) this.#queue.onFetched?.(events, seconds);
    pool.dispatch();
    this.#mayHaveMore ||= events.length >= limit || hasFullQueue(events, queues);
    return events.length > 0;
  }

  #requests(configs: readonly TriggerQueueConfig[]): readonly TriggerQueueRequest[] {
    if (this.#triggerQueues.size > 2 * configs.length + MAX_REMOVED_QUEUES) this.#removeUnused(new Set(configs.map(({ name }) => name)));
    // Starts with a random queue, since the first ones may get all the capacity that is left.
    const first = Math.floor(Math.random() * configs.length);
    const ordered = [...configs.slice(first), ...configs.slice(0, first)];
    let slow = this.#settings.pool.slowCapacity;
    // A small share for each slow queue: most may have no events, and those with events are fetched again at once.
    const share = Math.ceil(slow / configs.filter(({ name }) => this.#triggerQueue(name).isSlow).length);
    return ordered.flatMap(({ name, overall }): TriggerQueueRequest[] => {
      const queue = this.#triggerQueue(name);
      const limit = queue.isSlow ? Math.min(queue.capacity, share, slow) : queue.capacity;
      if (limit <= 0) return [];
      if (queue.isSlow) slow -= limit;
      return [{ name, limit, ...(overall === undefined ? {} : { overall }) }];
    });
  }

  /** Drops the queues of removed triggers. */
  #removeUnused(names: ReadonlySet<string>): void {
    const busy = new Set([...this.#leased.values()].map(({ queue }) => queue));
    for (const name of this.#triggerQueues.keys()) if (!names.has(name) && !busy.has(name)) this.#triggerQueues.delete(name);
  }

  #triggerQueue(name: string): TriggerQueue {
    let queue = this.#triggerQueues.get(name);
    if (queue === undefined) {
      queue = this.#settings.pool.newQueue();
      this.#triggerQueues.set(name, queue);
    }
    return queue;
  }

  #add(event: E, leaseEnd: number): void {
    const known = this.#leased.get(event.id);
    const { queue: name, size = 0, tries } = event;
    // Once its outcome is stored, an event may be fetched again before the response of the recording arrives, if that is not lost.
    const isRecorded = known !== undefined && (known.isRecording || (known.isDone && known.tries !== tries));
    if (known !== undefined && !isRecorded) {
      // This instance's own lease had expired, and no other instance has taken the event: it is still running here.
      Object.assign(known, { leaseEnd, tries, isLost: false });
      return;
    }
    this.#drop(event.id);
    this.#settings.pool.addSize(size);
    const idle = { isLost: false, cancellation: undefined, reservation: undefined, isDone: false, isRecording: false };
    const leased: LeasedEvent = { queue: name, tries, size, leaseEnd, ...idle };
    this.#leased.set(event.id, leased);
    const queue = this.#triggerQueue(name);
    queue.enqueue((attempt) => void this.#process(event, leased, queue, attempt));
  }

  #drop(id: string): void {
    const leased = this.#leased.get(id);
    if (leased === undefined) return;
    this.#leased.delete(id);
    leased.reservation?.end();
    this.#settings.pool.addSize(-leased.size);
  }

  async #process(event: E, leased: LeasedEvent, queue: TriggerQueue, attempt: Attempt): Promise<void> {
    let outcome: O | undefined;
    try {
      // Another instance may have taken the event, or soon will.
      const isExpired = leased.isLost || performance.now() > leased.leaseEnd - MIN_LEASE_MS;
      if (this.#isStopping || isExpired) {
        this.#drop(event.id);
        if (!isExpired) this.#toHandBack.push(event.id);
      } else {
        leased.cancellation = new CancellationSource();
        const reservation = this.#settings.memory.open();
        leased.reservation = reservation;
        outcome = await this.#queue.process(event, leased.cancellation, reservation.reserve);
      }
    } catch (error) {
      // The lease is not ended but expires, which delays the next attempt.
      this.#drop(event.id);
      if (leased.cancellation?.aborted === true) this.#toHandBack.push(event.id);
      else this.#settings.observe({ kind: 'unexpected', message: `cannot process an event of ${this.#queue.name}`, error });
    } finally {
      if (outcome !== undefined) {
        const size = this.#queue.sizeOf?.(outcome) ?? 0;
        leased.size += size;
        this.#settings.pool.addSize(size);
        leased.isDone = true;
        this.#recorder.add({ outcome, leased });
      }
      queue.finished(attempt);
      if (this.#isStopping) this.#waker.wake();
    }
  }

  async #record(done: readonly Done<O>[]): Promise<void> {
    const store = this.#queue.store();
    if (store === null) throw new Error('the database is not available');
    const setRecording = (isRecording: boolean): void => {
      for (const { leased } of done) leased.isRecording = isRecording;
    };
    setRecording(true);
    let recorded: ReadonlySet<string>;
    try {
      recorded = new Set(
        await store.record(
          this.#settings.lease,
          done.map(({ outcome, leased: { tries } }) => ({ ...outcome, tries })),
        ),
      );
    } catch (error) {
      setRecording(false);
      throw error;
    }
    let lost = 0;
    for (const { outcome, leased } of done) {
      // Otherwise it was recorded before, and is running again.
      if (this.#leased.get(outcome.id) !== leased) continue;
      this.#drop(outcome.id);
      if (!recorded.has(outcome.id)) lost += 1;
    }
    if (lost > 0)
      this.#report(
        `${lost} outcomes were not recorded, because this instance no longer had the lease: a response of the database was lost, or another instance has taken the events and may have delivered them twice`,
        null,
      );
    const outcomes = done.map(({ outcome }) => outcome);
    if (this.#hasDependants || this.#isStopping) this.#waker.wake();
    else this.#wakeForRetries(outcomes);
  }

  #wakeForRetries(outcomes: readonly O[]): void {
    for (const outcome of outcomes) {
      const delay = this.#queue.retryDelay?.(outcome) ?? null;
      if (delay !== null && delay < this.#queue.pollInterval) setTimeout(() => this.#waker.wake(), delay + DUE_MARGIN_MS).unref();
    }
  }

  async #renew(): Promise<void> {
    const entries = [...this.#leased];
    const store = this.#queue.store();
    if (entries.length === 0 || store === null) return;
    const { lease } = this.#settings;
    const leaseEnd = performance.now() + lease.seconds * 1000;
    try {
      const renewed = new Set(
        await store.renew(
          lease,
          entries.map(([id]) => id),
        ),
      );
      // Events that were fetched again meanwhile have their own lease.
      for (const [id, leased] of entries) {
        if (renewed.has(id)) leased.leaseEnd = leaseEnd;
        else leased.isLost = true;
      }
    } catch (error) {
      this.#report('cannot renew leases', error);
    }
  }

  async #handBack(ids: readonly string[]): Promise<void> {
    const store = this.#queue.store();
    for (const id of ids) this.#drop(id);
    if (ids.length === 0 || store === null) return;
    // If this fails, the events are free when the lease expires.
    await store.release(this.#settings.lease, ids).catch((error: unknown) => this.#report('cannot release leased events', error));
  }

  #listenTo(store: EventStore<E, O> | null): void {
    if (this.#listening?.store === (store ?? undefined)) return;
    void this.#stopListening();
    if (store === null || store.listen === undefined) return;
    const stop = store
      .listen(() => this.#waker.wake())
      .catch((error: unknown) => {
        this.#report('cannot listen for events', error);
        return undefined;
      });
    this.#listening = { store, stop };
  }

  async #stopListening(): Promise<void> {
    const listening = this.#listening;
    this.#listening = undefined;
    await (await listening?.stop)?.stop().catch(() => undefined);
  }

  #report(problem: string, error: unknown): void {
    const reason = error === null ? problem : `${problem}: ${describeFailure(error)}`;
    this.#settings.observe({ kind: 'delivery-trouble', queue: this.#queue.name, message: reason });
  }
}

async function sleep(ms: number): Promise<void> {
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
}

function hasFullQueue(events: readonly QueuedEvent[], queues: readonly TriggerQueueRequest[]): boolean {
  const counts = new Map<string, number>();
  for (const { queue } of events) counts.set(queue, (counts.get(queue) ?? 0) + 1);
  return queues.some(({ name, limit }) => (counts.get(name) ?? 0) >= limit);
}

/** A trigger to fetch events for, with its optional limit of concurrent deliveries across all instances. */
export interface TriggerQueueConfig {
  readonly name: string;
  readonly overall?: number;
  /** True if events may have to wait for others. */
  readonly isOrdered?: boolean;
}

/** A queue and how its events are processed. */
export interface Queue<E extends QueuedEvent, O extends { readonly id: string }> {
  /** Name for messages. */
  readonly name: string;
  /** Returns `null` while its database is not available. A new store must be of the same queue. */
  store(): EventStore<E, O> | null;
  /** Returns the triggers to fetch events for; called before every fetch. If there are none, nothing is fetched. */
  triggerQueues(): readonly TriggerQueueConfig[];
  /**
   * Processes an event and returns its outcome, failures included; must always end. It may reject after `signal` is cancelled: then the
   * event is handed back. Large data that it reads must be reserved.
   */
  process(event: E, signal: PromptCancellation, reserve: ReserveMemory): Promise<O>;
  /** Returns the size of an outcome in characters, if it may be large. */
  sizeOf?(outcome: O): number;
  /** Returns the delay of the event's next attempt in ms, `null` if there is none. */
  retryDelay?(outcome: O): number | null;
  /** Interval between fetches without events, in ms. */
  readonly pollInterval: number;
  /** Called after every fetch with events. @param seconds duration of the fetch */
  onFetched?(events: readonly E[], seconds: number): void;
  /** Called after every query of the store. @param seconds duration of the query */
  onQuery?(seconds: number, isAnswered: boolean): void;
}
