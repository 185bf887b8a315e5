/**
 * Who may begin next. A lane may have three times as many slots as stay free beside one more, so that there is always one for a lane
 * that has none; lanes whose events take long share half of the slots, so that quick ones need not wait for them.
 */

/** Longer than this is slow. ms */
const SLOW_MS = 1000;
/** Slots of a lane for each that stays free. */
const SHARE = 3;
/** How often it is looked for lanes that have become slow. ms */
const SWEEP_MS = 250;

/** Characters of the events that an instance has taken. What is sent, recorded and on its way holds several times as much. */
const MOST_HELD = 32 * 1024 * 1024;

/** What an event has while it is worked on. */
export interface Slot {
  readonly began: number;
}

/** What begins when it is its turn. */
export type Begin = (slot: Slot) => void;

/** The events of a lane in this instance. */
export interface PoolLane {
  /** How many more may be taken from the queue now. */
  readonly room: number;
  /** Whether its events take long. */
  readonly isSlow: boolean;
  enqueue(begin: Begin): void;
  /** Forgets those that have not begun. */
  clear(): void;
  finished(slot: Slot): void;
}

export interface SlotPool {
  lane(): PoolLane;
  /** How many events of all lanes may be taken now. */
  readonly room: number;
  /** Events that are worked on. */
  readonly running: number;
  /** How many events of slow lanes may be among them. */
  readonly slowRoom: number;
  /** Keeps room for a fetch that is under way. @returns gives it back */
  reserve(events: number): () => void;
  /** Characters that events may still hold, all together; the last one may go beyond. */
  readonly bytes: number;
  /** An event is there, or gone when it is less than nothing. */
  weigh(characters: number): void;
  /** Begins what may begin. */
  dispatch(): void;
  /** Calls when an event has ended. @returns ends that */
  onRoom(listener: () => void): () => void;
}

/** @param slots events that are worked on at a time; as many again may wait for their turn */
export function createPool(slots: number): SlotPool {
  return new SharedPool(slots);
}

class SharedPool implements SlotPool {
  readonly slots: number;
  readonly slowSlots: number;
  /** Lanes with events that wait, in the order of their turns. */
  readonly waiting = new Set<SharedLane>();
  /** Lanes with events that are worked on. */
  readonly busy = new Set<SharedLane>();
  readonly #listeners = new Set<() => void>();
  running = 0;
  slowRunning = 0;
  /** Waiting, worked on, or on their way from the database. */
  held = 0;
  bytes = MOST_HELD;
  #swept = 0;

  constructor(slots: number) {
    this.slots = slots;
    this.slowSlots = Math.ceil(slots / 2);
  }

  lane(): PoolLane {
    return new SharedLane(this);
  }

  get room(): number {
    return Math.max(0, 2 * this.slots - this.held);
  }

  get slowRoom(): number {
    let held = 0;
    for (const lane of new Set([...this.waiting, ...this.busy])) if (lane.isSlow) held += lane.held;
    return Math.max(0, Math.min(this.room, this.slowSlots - held));
  }

  reserve(events: number): () => void {
    this.held += events;
    return () => {
      this.held -= events;
    };
  }

  weigh(characters: number): void {
    const wasFull = this.bytes <= 0;
    this.bytes -= characters;
    if (wasFull && this.bytes > 0) for (const listener of this.#listeners) listener();
  }

  onRoom(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** One event of each lane that may, then the next of each, until nothing more may begin. */
  dispatch(): void {
    this.#sweep();
    for (let begun = true; begun && this.running < this.slots; ) {
      begun = false;
      for (const lane of [...this.waiting]) {
        if (this.running >= this.slots) return;
        if (!lane.mayBegin()) continue;
        lane.begin();
        begun = true;
      }
    }
  }

  #sweep(): void {
    const now = performance.now();
    if (now - this.#swept < SWEEP_MS) return;
    this.#swept = now;
    for (const lane of this.busy) lane.look(now);
  }

  ended(): void {
    this.dispatch();
    for (const listener of this.#listeners) listener();
  }
}

class SharedLane implements PoolLane {
  readonly #pool: SharedPool;
  #waiting: Begin[] = [];
  /** The one that began first is first. */
  readonly #running = new Set<Slot>();
  isSlow = false;

  constructor(pool: SharedPool) {
    this.#pool = pool;
  }

  get held(): number {
    return this.#waiting.length + this.#running.size;
  }

  get room(): number {
    const { room } = this.#pool;
    return room === 0 ? 0 : Math.max(this.held === 0 ? 1 : 0, Math.ceil((room - this.held) / 2));
  }

  enqueue(begin: Begin): void {
    this.#waiting.push(begin);
    this.#pool.held += 1;
    this.#pool.waiting.add(this);
  }

  clear(): void {
    this.#pool.held -= this.#waiting.length;
    this.#waiting = [];
    this.#pool.waiting.delete(this);
  }

  mayBegin(): boolean {
    const { slots, running, slowSlots, slowRunning } = this.#pool;
    if (this.isSlow && slowRunning >= slowSlots) return false;
    return this.#running.size === 0 || this.#running.size < SHARE * (slots - running - 1);
  }

  begin(): void {
    const pool = this.#pool;
    const begin = this.#waiting.shift();
    // To the end of the row.
    pool.waiting.delete(this);
    if (this.#waiting.length > 0) pool.waiting.add(this);
    if (begin === undefined) return;
    const slot: Slot = { began: performance.now() };
    this.#running.add(slot);
    pool.running += 1;
    if (this.isSlow) pool.slowRunning += 1;
    pool.busy.add(this);
    begin(slot);
  }

  finished(slot: Slot): void {
    const pool = this.#pool;
    this.#running.delete(slot);
    pool.running -= 1;
    pool.held -= 1;
    if (this.isSlow) pool.slowRunning -= 1;
    if (this.#running.size === 0) pool.busy.delete(this);
    this.#setSlow(performance.now() - slot.began >= SLOW_MS);
    pool.ended();
  }

  /** Slow is also who does not come to an end. */
  look(now: number): void {
    const [first] = this.#running;
    if (first !== undefined && now - first.began >= SLOW_MS) this.#setSlow(true);
  }

  #setSlow(isSlow: boolean): void {
    if (isSlow === this.isSlow) return;
    this.isSlow = isSlow;
    this.#pool.slowRunning += isSlow ? this.#running.size : -this.#running.size;
  }
}
