/** Answers on their way: clients that do not take what they asked for lose their connection. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Histogram } from '../observability/metrics/histogram.ts';

export interface AnswerLimits {
  /** ms in which a client takes something of an answer that waits for it; 0: no limit. */
  readonly stall: number;
  /** Bytes of answers that wait for all clients together. */
  readonly waiting: number;
}

/** Bytes that may wait without being looked at: operating systems hold more. */
const LITTLE = 65_536;
/** Bytes a second that a client takes of a large answer, on the whole. */
const MIN_RATE = 65_536;
/** Bytes a second below which a client counts as slow where there is no room, and ms before that counts. */
const SLOW_RATE = 1_048_576;
const GRACE = 1000;
/** ms after an answer in which the rest of its request may still come. */
const LINGER = 2000;
const SWEEP_INTERVAL = 1000;

/** How long messages of websockets take, in seconds. */
export interface SocketTimes {
  /** Until the operating system takes them. */
  readonly queue: Histogram;
  /** To write them. */
  readonly write: Histogram;
}

interface Waiting {
  readonly socket: Socket;
  size: number;
  /** Bytes of the answer, where it is made while it is sent: more than `size` if values are printed several times. */
  readonly coming: number;
  /** By `performance.now()`. */
  readonly sentAt: number;
  /** Bytes of it that the client has taken. */
  taken: number;
  /** Not counted in `size` yet, for want of room; `null`: nothing. */
  held: MemoryInUse | null;
}

/** Memory of an answer that is sent while it is made. */
export interface MemoryInUse {
  readonly size: number;
  /** It is counted here now, and elsewhere no more. */
  release(): void;
}

/** What waits for a client of whom nobody knows when it has taken all. */
export interface Held {
  /** More waits for it. */
  grow(bytes: number): void;
  /** It has taken everything, or is gone. */
  release(): void;
}

/** An answer that is made while it is sent. */
export interface HeldAnswer extends Held {
  /** Its client has taken some. */
  took(bytes: number): void;
}

export class Answers {
  readonly #limits: AnswerLimits;
  /** The oldest first. */
  readonly #waiting = new Set<Waiting>();
  #bytes = 0;
  /** Bytes of the messages of websockets since the start. */
  readonly traffic = { sent: 0, received: 0 };
  readonly #sweeper: NodeJS.Timeout;

  /** null: nobody wants to know. */
  readonly times: () => SocketTimes | null;

  constructor(limits: AnswerLimits, times: () => SocketTimes | null = () => null) {
    this.#limits = limits;
    this.times = times;
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_INTERVAL).unref();
  }

  /** ms in which a client takes something of what waits for it; 0: no limit. */
  get stall(): number {
    return this.#limits.stall;
  }

  /** An answer was written. @returns null when there is little to wait for, or else what resolves when it is gone or will never be */
  sent(request: IncomingMessage, response: ServerResponse): Promise<void> | null {
    if (!request.complete) linger(request, response);
    const { socket } = request;
    // Behind another answer, this one has no socket yet.
    const size = response.writableLength + (response.socket === null ? socket.writableLength : 0);
    if (size < LITTLE || socket.destroyed) return null;
    const waiting = this.#wait(socket, size);
    return new Promise((resolve) => {
      const gone = (): void => {
        this.#forget(waiting);
        socket.off('close', gone);
        resolve();
      };
      response.once('close', gone);
      socket.once('close', gone);
    });
  }

  /**
   * So much waits for the client of a socket, until it is released.
   * @param coming bytes that are made as the client takes what waits: it has time for them
   * @param held is counted here as soon as there is room for it, for which slow clients have to go
   */
  hold(socket: Socket, size: number, coming = 0, held: MemoryInUse | null = null): HeldAnswer {
    const waiting = this.#wait(socket, size, coming, held);
    this.#count(waiting);
    return {
      grow: (bytes) => {
        if (!this.#waiting.has(waiting)) return;
        waiting.size += bytes;
        this.#bytes += bytes;
        if (this.#bytes > this.#limits.waiting) this.#makeRoom(waiting);
      },
      took: (bytes) => {
        waiting.taken += bytes;
      },
      release: () => this.#forget(waiting),
    };
  }

  stop(): void {
    clearInterval(this.#sweeper);
  }

  #wait(socket: Socket, size: number, coming = 0, held: MemoryInUse | null = null): Waiting {
    const waiting: Waiting = { socket, size, coming, sentAt: performance.now(), taken: 0, held };
    this.#waiting.add(waiting);
    this.#bytes += size;
    if (this.#bytes > this.#limits.waiting) this.#makeRoom(waiting);
    return waiting;
  }

  #forget(waiting: Waiting): void {
    if (this.#waiting.delete(waiting)) this.#bytes -= waiting.size;
  }

  /** Too much waits: who has kept the service waiting for the longest time goes first. */
  #makeRoom(newest: Waiting): void {
    for (const waiting of this.#waiting) {
      if (this.#bytes <= this.#limits.waiting || waiting === newest) return;
      this.#forget(waiting);
      waiting.socket.destroy();
    }
  }

  /** Counts what is held elsewhere. Without room slow clients go, the oldest first; those that read have their answer to its end. */
  #count(waiting: Waiting): void {
    const { held } = waiting;
    if (held === null) return;
    const now = performance.now();
    const hasRoom = (): boolean => this.#bytes === 0 || this.#bytes + held.size <= this.#limits.waiting;
    for (const other of this.#waiting) {
      if (hasRoom()) break;
      if (other.size === 0 || other.taken >= ((now - other.sentAt - GRACE) / 1000) * SLOW_RATE) continue;
      this.#forget(other);
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

/** A request was answered before it was read to its end. The connection closes, but not at once: else the client would not hear the answer. */
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
