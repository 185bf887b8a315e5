/** Responses that clients have not read yet. Clients that stop reading lose their connection. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Histogram } from '../observability/metrics/histogram.ts';

export interface PendingLimits {
  /** Time within which a client must read some of its response, in ms; 0 for no limit. */
  readonly stall: number;
  /** Maximum size of the unread responses of all clients, in bytes. */
  readonly waiting: number;
}

/** Size up to which unread data is not tracked, in bytes: operating systems buffer more. */
const UNTRACKED_SIZE = 65_536;
/** Minimum average rate at which a client must read a large response, in bytes per second. */
const MIN_RATE = 65_536;
/** Clients below this rate (bytes per second, after the grace period in ms) are disconnected first when memory is short. */
const SLOW_RATE = 1_048_576;
const GRACE = 1000;
/** Time after a response in which the rest of its request may still arrive, in ms. */
const LINGER = 2000;
const SWEEP_INTERVAL = 1000;

/** Times of websocket messages, in seconds. */
export interface SocketTimes {
  /** Until the operating system has accepted the message. */
  readonly queue: Histogram;
  /** Duration of the write call. */
  readonly write: Histogram;
}

interface Pending {
  readonly socket: Socket;
  size: number;
  /** Total bytes of a response that is printed while it is sent. May exceed `size`, because a value can be printed several times. */
  readonly coming: number;
  /** Time of `performance.now()`. */
  readonly sentAt: number;
  /** Bytes that the client has read. */
  read: number;
  /** Memory that is not counted in `size` yet, for lack of room; `null` if there is none. */
  held: MemoryInUse | null;
}

/** Memory of a response that is printed while it is sent. */
export interface MemoryInUse {
  readonly size: number;
  /** Called once the memory is counted with the unread responses. */
  release(): void;
}

/** Unread data of one client. */
export interface PendingData {
  /** Called when more data has been written. */
  grow(bytes: number): void;
  /** Called when the client has read everything, or has disconnected. */
  release(): void;
}

/** Unread data of a response that is printed while it is sent. */
export interface PendingBody extends PendingData {
  /** Called when the client has read some of it. */
  onRead(bytes: number): void;
}

export class PendingResponses {
  readonly #limits: PendingLimits;
  /** Oldest first. */
  readonly #waiting = new Set<Pending>();
  #bytes = 0;
  /** Bytes of websocket messages since the start. */
  readonly traffic = { sent: 0, received: 0 };
  readonly #sweeper: NodeJS.Timeout;

  /** Returns the histograms for websocket messages; `null` if metrics are off. */
  readonly times: () => SocketTimes | null;

  constructor(limits: PendingLimits, times: () => SocketTimes | null = () => null) {
    this.#limits = limits;
    this.times = times;
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_INTERVAL).unref();
  }

  /** Time within which a client must read some of its data, in ms; 0 for no limit. */
  get stall(): number {
    return this.#limits.stall;
  }

  /** Tracks a written response. Returns `null` if little is unread, otherwise a promise that resolves when it is read or dropped. */
  sent(request: IncomingMessage, response: ServerResponse): Promise<void> | null {
    if (!request.complete) linger(request, response);
    const { socket } = request;
    // A response that is queued behind another one has no socket yet.
    const size = response.writableLength + (response.socket === null ? socket.writableLength : 0);
    if (size < UNTRACKED_SIZE || socket.destroyed) return null;
    const waiting = this.#track(socket, size);
    return new Promise((resolve) => {
      const onGone = (): void => {
        this.#untrack(waiting);
        socket.off('close', onGone);
        resolve();
      };
      response.once('close', onGone);
      socket.once('close', onGone);
    });
  }

  /**
   * Tracks unread data of a socket until it is released.
   * @param coming bytes that are printed as the client reads: they extend the time that it has
   * @param held memory to count once there is room, for which slow clients are disconnected
   */
  add(socket: Socket, size: number, coming = 0, held: MemoryInUse | null = null): PendingBody {
    const waiting = this.#track(socket, size, coming, held);
    this.#count(waiting);
    return {
      grow: (bytes) => {
        if (!this.#waiting.has(waiting)) return;
        waiting.size += bytes;
        this.#bytes += bytes;
        if (this.#bytes > this.#limits.waiting) this.#makeRoom(waiting);
      },
      onRead: (bytes) => {
        waiting.read += bytes;
      },
      release: () => this.#untrack(waiting),
    };
  }

  stop(): void {
    clearInterval(this.#sweeper);
  }

  #track(socket: Socket, size: number, coming = 0, held: MemoryInUse | null = null): Pending {
    const waiting: Pending = { socket, size, coming, sentAt: performance.now(), read: 0, held };
    this.#waiting.add(waiting);
    this.#bytes += size;
    if (this.#bytes > this.#limits.waiting) this.#makeRoom(waiting);
    return waiting;
  }

  #untrack(waiting: Pending): void {
    if (this.#waiting.delete(waiting)) this.#bytes -= waiting.size;
  }

  /** Disconnects clients until the limit is met, those with the oldest unread data first. */
  #makeRoom(newest: Pending): void {
    for (const waiting of this.#waiting) {
      if (this.#bytes <= this.#limits.waiting || waiting === newest) return;
      this.#untrack(waiting);
      waiting.socket.destroy();
    }
  }

  /** Counts held memory. If there is no room, disconnects slow clients, oldest first; clients that read are not disconnected. */
  #count(waiting: Pending): void {
    const { held } = waiting;
    if (held === null) return;
    const now = performance.now();
    const hasRoom = (): boolean => this.#bytes === 0 || this.#bytes + held.size <= this.#limits.waiting;
    for (const other of this.#waiting) {
      if (hasRoom()) break;
      if (other.size === 0 || other.read >= ((now - other.sentAt - GRACE) / 1000) * SLOW_RATE) continue;
      this.#untrack(other);
      other.socket.destroy();
    }
    if (!hasRoom()) return;
    waiting.held = null;
    waiting.size += held.size;
    this.#bytes += held.size;
    held.release();
  }

  #sweep(): void {
    for (const waiting of this.#waiting) this.#count(waiting);
    const { stall } = this.#limits;
    if (stall === 0) return;
    const now = performance.now();
    for (const { socket, size, coming, sentAt } of this.#waiting) {
      if (now > sentAt + stall + (Math.max(size, coming) / MIN_RATE) * 1000) socket.destroy();
    }
  }
}

/** Handles a response that was sent before the whole request was read. Closing at once would make the client lose the response. */
function linger(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request;
  const wait = (): void => {
    if (request.complete || request.destroyed) return;
    const timer = setTimeout(() => {
      if (!request.complete) socket.destroy();
    }, LINGER).unref();
    request.once('close', () => clearTimeout(timer));
  };
  if (response.writableFinished) wait();
  else response.once('finish', wait);
}
