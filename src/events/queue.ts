/** One queue of the engine: its loop of fetches, what it holds, and its leases. */
import type { EventStore, LaneRequest, Lease, QueuedEvent } from '../backend/event-store.ts';
import type { ErrorCode } from '../errors/codes.ts';
import { describeFailure } from '../errors/describe-failure.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { Observer } from '../observability/observation.ts';
import { CancellationSource, type PromptCancellation } from '../util/cancellation.ts';
import type { Hold, Holding, Holdings } from './holdings.ts';
import type { SlotPool, PoolLane, Slot } from './pool.ts';
import { createRecorder, type Recorder } from './recorder.ts';
import { createWaker, type Waker } from './waker.ts';

export interface QueueSettings {
  readonly lease: Lease;
  readonly batchSize: number;
  readonly pool: SlotPool;
  readonly holdings: Holdings;
  readonly observe: Observer;
}

export interface RunningQueue {
  wake(): void;
  /** Resolves when everything is recorded or handed back; gives up after about so many ms. */
  stop(graceMs: number): Promise<void>;
}

/** Between fetches that bring something, at least: what comes meanwhile is fetched together. ms */
const GATHER_MS = 5;
/** The same at most, where the database is slow. ms */
const LONGEST_GATHER_MS = 20;
/** That an outcome waits for others, unless other events wait for it. ms */
const RECORD_MS = 10;
/** After a fetch that brought nothing, however often it is called: not every call means that there is something. ms */
const REST_MS = 20;
/** After a fetch that failed, doubled each time. ms */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 5_000;
/** For what is given up at the end to hand itself back. ms */
const HAND_BACK_MS = 2_000;
/** Clocks differ. ms */
const AFTER_DUE_MS = 5;
/** Codes of errors that are about what was to be written, and not about the moment. */
const REFUSALS: ReadonlySet<string> = new Set(['data-exception', 'constraint-violation', 'unexpected'] satisfies ErrorCode[]);
/** Lanes whose recent past is remembered although they may be gone. */
const LANES_KEPT = 100;
/** Of its lease that an event must have left to be begun. ms */
const LEAST_LEASE_MS = 5_000;

export function startQueue<E extends QueuedEvent, O extends { readonly id: string }>(
  queue: Queue<E, O>,
  settings: QueueSettings,
): RunningQueue {
  const running = new LeasedQueue(queue, settings);
  running.start();
  return running;
}

interface HeldEvent {
  readonly lane: string;
  /** Attempts before this one. */
  tries: number;
  /** Of the event, and of what came of it. Characters. */
  size: number;
  /** By our own clock, on the safe side. */
  leaseEnd: number;
  /** No instance of ours any more, as far as the database is concerned. */
  isLost: boolean;
  /** Once it is worked on. */
  cancellation: CancellationSource | undefined;
  /** What was read while it was worked on: until what came of it is recorded. */
  holding: Holding | undefined;
  /** Its outcome waits to be recorded. */
  isDone: boolean;
  /** What came of it is on its way to the database. */
  isRecording: boolean;
}

/** Outcome of an event, to be recorded. */
interface Done<O> {
  readonly outcome: O;
  readonly held: HeldEvent;
}

class LeasedQueue<E extends QueuedEvent, O extends { readonly id: string }> implements RunningQueue {
  readonly #queue: Queue<E, O>;
  readonly #settings: QueueSettings;
  readonly #lanes = new Map<string, PoolLane>();
  /** Taken and not yet recorded or handed back, by id. */
  readonly #held = new Map<string, HeldEvent>();
  /** To be handed back at the end: there was no more time for them. */
  readonly #givenUp: string[] = [];
  readonly #recorder: Recorder<Done<O>>;
  readonly #waker: Waker = createWaker();
  #renewal: NodeJS.Timeout | undefined;
  #listening: { readonly store: EventStore<E, O>; readonly stop: Promise<{ stop(): Promise<void> } | undefined> } | undefined;
  #loop: Promise<void> = Promise.resolve();
  #forgetRoom: () => void = () => undefined;
  #isStopping = false;
  /** Lanes of which there may be more than was taken. */
  #mayHaveMore = false;
  /** Whether the end of an event may make another one due. */
  #hasDependants = false;
  #failures = 0;

  constructor(queue: Queue<E, O>, settings: QueueSettings) {
    this.#queue = queue;
    this.#settings = settings;
    this.#recorder = createRecorder({
      gather: () => (this.#hasDependants || this.#isStopping ? 0 : RECORD_MS),
      record: async (done) => this.#record(done),
      failed: (error) => this.#report('cannot record what was done', error),
      isRefusal: (error) => error instanceof SvcError && REFUSALS.has(error.code),
      sizeOf: ({ outcome }) => queue.sizeOf?.(outcome) ?? 0,
      leftOut: ({ outcome: { id }, held }, error) => {
        // Its lease is left to end.
        if (this.#held.get(id) === held) this.#letGo(id);
        this.#report(`cannot record what came of the event ${id}`, error);
      },
    });
  }

  start(): void {
    const { pool, lease } = this.#settings;
    this.#forgetRoom = pool.onRoom(() => {
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
    this.#forgetRoom();
    await this.#loop;
    await this.#stopListening();
    for (const lane of this.#lanes.values()) lane.clear();
    await this.#handBack([...this.#held].flatMap(([id, { cancellation }]) => (cancellation === undefined ? [id] : [])));
    while (this.#held.size > 0 && performance.now() < end) await this.#waker.wait(Math.min(250, Math.max(1, end - performance.now())));
    for (const { cancellation } of this.#held.values()) cancellation?.cancel();
    const last = performance.now() + HAND_BACK_MS;
    while (this.#held.size > 0 && performance.now() < last) await this.#waker.wait(50);
    this.#recorder.stop();
    clearInterval(this.#renewal);
    await this.#handBack([...this.#givenUp, ...this.#held.keys()]);
  }

  async #run(): Promise<void> {
    while (!this.#isStopping) {
      this.#waker.rest();
      const began = performance.now();
      const found = await this.#fetch();
      if (this.#isStopping) return;
      const pause = this.#failures > 0 ? this.#pauseAfterFailure() : this.#queue.pollInterval;
      // A busy database has more of few large fetches.
      if (found) await sleep(Math.min(LONGEST_GATHER_MS, Math.max(GATHER_MS, performance.now() - began)));
      else {
        const since = performance.now();
        await this.#waker.wait(pause);
        if (!this.#isStopping) await sleep(since + REST_MS - performance.now());
      }
    }
  }

  #pauseAfterFailure(): number {
    return Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#failures - 1));
  }

  /** @returns whether it should be looked again at once */
  async #fetch(): Promise<boolean> {
    const { pool, lease, batchSize } = this.#settings;
    const store = this.#queue.store();
    this.#listenTo(store);
    const wanted = this.#queue.lanes();
    if (store === null || wanted.length === 0) return false;
    this.#hasDependants = wanted.some(({ overall, isOrdered = false }) => overall !== undefined || isOrdered);
    const limit = Math.min(batchSize, pool.room);
    const lanes = limit === 0 || pool.bytes <= 0 ? [] : this.#requests(wanted);
    this.#mayHaveMore = lanes.length < wanted.length;
    if (lanes.length === 0) return false;
    const giveBack = pool.reserve(limit);
    const began = performance.now();
    let events: readonly E[];
    try {
      events = await store.fetch({ lease, limit, bytes: pool.bytes, lanes });
      this.#failures = 0;
      this.#queue.asked?.((performance.now() - began) / 1000, true);
    } catch (error) {
      this.#failures += 1;
      this.#queue.asked?.((performance.now() - began) / 1000, false);
      if (this.#failures === 1) this.#report('cannot fetch events', error);
      return false;
    } finally {
      giveBack();
    }
    const seconds = (performance.now() - began) / 1000;
    const leaseEnd = began + lease.seconds * 1000;
    for (const event of events) this.#take(event, leaseEnd);
    if (events.length > 0) this.#queue.fetched?.(events, seconds);
    pool.dispatch();
    this.#mayHaveMore ||= events.length >= limit || hasFullLane(events, lanes);
    return events.length > 0;
  }

  #requests(wanted: ReturnType<Queue<E, O>['lanes']>): readonly LaneRequest[] {
    if (this.#lanes.size > 2 * wanted.length + LANES_KEPT) this.#forgetLanes(new Set(wanted.map(({ name }) => name)));
    // Who is asked first may get all that is left: each time another one.
    const first = Math.floor(Math.random() * wanted.length);
    const inTurn = [...wanted.slice(first), ...wanted.slice(0, first)];
    let slow = this.#settings.pool.slowRoom;
    // Most of them may have nothing: who has something comes again at once.
    const share = Math.ceil(slow / wanted.filter(({ name }) => this.#lane(name).isSlow).length);
    return inTurn.flatMap(({ name, overall }): LaneRequest[] => {
      const lane = this.#lane(name);
      const limit = lane.isSlow ? Math.min(lane.room, share, slow) : lane.room;
      if (limit <= 0) return [];
      if (lane.isSlow) slow -= limit;
      return [{ name, limit, ...(overall === undefined ? {} : { overall }) }];
    });
  }

  /** Triggers come and go. */
  #forgetLanes(wanted: ReadonlySet<string>): void {
    const busy = new Set([...this.#held.values()].map(({ lane }) => lane));
    for (const name of this.#lanes.keys()) if (!wanted.has(name) && !busy.has(name)) this.#lanes.delete(name);
  }

  #lane(name: string): PoolLane {
    let lane = this.#lanes.get(name);
    if (lane === undefined) {
      lane = this.#settings.pool.lane();
      this.#lanes.set(name, lane);
    }
    return lane;
  }

  #take(event: E, leaseEnd: number): void {
    const known = this.#held.get(event.id);
    const { lane: name, size = 0, tries } = event;
    // One that was recorded, or is just now, has come back before the answer to that, which may be lost: it is due again.
    const isRecorded = known !== undefined && (known.isRecording || (known.isDone && known.tries !== tries));
    if (known !== undefined && !isRecorded) {
      // Our own lease had ended, and nobody else has taken it since: it is still being worked on.
      Object.assign(known, { leaseEnd, tries, isLost: false });
      return;
    }
    this.#letGo(event.id);
    this.#settings.pool.weigh(size);
    const idle = { isLost: false, cancellation: undefined, holding: undefined, isDone: false, isRecording: false };
    const held: HeldEvent = { lane: name, tries, size, leaseEnd, ...idle };
    this.#held.set(event.id, held);
    const lane = this.#lane(name);
    lane.enqueue((slot) => void this.#work(event, held, lane, slot));
  }

  #letGo(id: string): void {
    const held = this.#held.get(id);
    if (held === undefined) return;
    this.#held.delete(id);
    held.holding?.end();
    this.#settings.pool.weigh(-held.size);
  }

  async #work(event: E, held: HeldEvent, lane: PoolLane, slot: Slot): Promise<void> {
    let outcome: O | undefined;
    try {
      // Somebody else may have it by now, or will have it soon.
      const isElsewhere = held.isLost || performance.now() > held.leaseEnd - LEAST_LEASE_MS;
      if (this.#isStopping || isElsewhere) {
        this.#letGo(event.id);
        if (!isElsewhere) this.#givenUp.push(event.id);
      } else {
        held.cancellation = new CancellationSource();
        const holding = this.#settings.holdings.open();
        held.holding = holding;
        outcome = await this.#queue.work(event, held.cancellation, holding.hold);
      }
    } catch (error) {
      // Its lease is left to end: it is tried again, though not at once.
      this.#letGo(event.id);
      if (held.cancellation?.aborted === true) this.#givenUp.push(event.id);
      else this.#settings.observe({ kind: 'unexpected', message: `an event of ${this.#queue.name} could not be worked on`, error });
    } finally {
      if (outcome !== undefined) {
        const size = this.#queue.sizeOf?.(outcome) ?? 0;
        held.size += size;
        this.#settings.pool.weigh(size);
        held.isDone = true;
        this.#recorder.add({ outcome, held });
      }
      lane.finished(slot);
      if (this.#isStopping) this.#waker.wake();
    }
  }

  async #record(done: readonly Done<O>[]): Promise<void> {
    const store = this.#queue.store();
    if (store === null) throw new Error('the database cannot be reached');
    const mark = (isRecording: boolean): void => {
      for (const { held } of done) held.isRecording = isRecording;
    };
    mark(true);
    let recorded: ReadonlySet<string>;
    try {
      recorded = new Set(
        await store.record(
          this.#settings.lease,
          done.map(({ outcome, held: { tries } }) => ({ ...outcome, tries })),
        ),
      );
    } catch (error) {
      mark(false);
      throw error;
    }
    let lost = 0;
    for (const { outcome, held } of done) {
      // Else it was recorded before, and is worked on again.
      if (this.#held.get(outcome.id) !== held) continue;
      this.#letGo(outcome.id);
      if (!recorded.has(outcome.id)) lost += 1;
    }
    if (lost > 0)
      this.#report(
        `${lost} events were no longer under a lease of this instance when they were recorded: an answer was lost, or others have taken them and may have delivered them twice`,
        null,
      );
    const outcomes = done.map(({ outcome }) => outcome);
    if (this.#hasDependants || this.#isStopping) this.#waker.wake();
    else this.#wakeForRetries(outcomes);
  }

  #wakeForRetries(outcomes: readonly O[]): void {
    for (const outcome of outcomes) {
      const wait = this.#queue.dueAgain?.(outcome) ?? null;
      if (wait !== null && wait < this.#queue.pollInterval) setTimeout(() => this.#waker.wake(), wait + AFTER_DUE_MS).unref();
    }
  }

  async #renew(): Promise<void> {
    const entries = [...this.#held];
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
      // What has come back meanwhile has a lease of its own.
      for (const [id, held] of entries) {
        if (renewed.has(id)) held.leaseEnd = leaseEnd;
        else held.isLost = true;
      }
    } catch (error) {
      this.#report('cannot renew leases', error);
    }
  }

  async #handBack(ids: readonly string[]): Promise<void> {
    const store = this.#queue.store();
    for (const id of ids) this.#letGo(id);
    if (ids.length === 0 || store === null) return;
    // What cannot be handed back is free when its lease ends.
    await store.release(this.#settings.lease, ids).catch((error: unknown) => this.#report('cannot hand events back', error));
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

  #report(what: string, error: unknown): void {
    const reason = error === null ? what : `${what}: ${describeFailure(error)}`;
    this.#settings.observe({ kind: 'delivery-trouble', queue: this.#queue.name, message: reason });
  }
}

async function sleep(ms: number): Promise<void> {
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
}

function hasFullLane(events: readonly QueuedEvent[], lanes: readonly LaneRequest[]): boolean {
  const counts = new Map<string, number>();
  for (const { lane } of events) counts.set(lane, (counts.get(lane) ?? 0) + 1);
  return lanes.some(({ name, limit }) => (counts.get(name) ?? 0) >= limit);
}

/** What is wanted of a lane: all of its events, or so many at a time in all instances together. */
export interface WantedLane {
  readonly name: string;
  readonly overall?: number;
  /** Some of its events have to wait for others. */
  readonly isOrdered?: boolean;
}

/** A queue and how its events are worked on. */
export interface Queue<E extends QueuedEvent, O extends { readonly id: string }> {
  /** For messages. */
  readonly name: string;
  /** Null while its database cannot be reached. Another store than before must be of the same queue. */
  store(): EventStore<E, O> | null;
  /** Whose events are wanted; asked before every fetch. None: the database is not asked. */
  lanes(): readonly WantedLane[];
  /**
   * Gives what came of an event, failures included; must end by itself. When `signal` says so it may reject: then the
   * event is handed back. What is read meanwhile, where it may be much, asks `hold` for room.
   */
  work(event: E, signal: PromptCancellation, hold: Hold): Promise<O>;
  /** Characters of an outcome, where it may be large. */
  sizeOf?(outcome: O): number;
  /** In how many ms the event of an outcome is due again; null: never. */
  dueAgain?(outcome: O): number | null;
  /** ms between fetches where there is nothing */
  readonly pollInterval: number;
  /** Hears of every fetch that brought something. @param seconds that it took */
  fetched?(events: readonly E[], seconds: number): void;
  /** Hears of every question to the store. @param seconds that it took */
  asked?(seconds: number, isAnswered: boolean): void;
}
