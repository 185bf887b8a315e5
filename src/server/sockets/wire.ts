/** Sends messages over one socket and tracks unread data. */
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { type Bytes, bufferOfBytes } from '../../util/bytes.ts';
import type { SubscriptionAnswer } from '../../subscriptions/subscriptions.ts';
import type { PendingResponses, PendingData, SocketTimes } from '../pending-responses.ts';
import { answerFrame, answerMessage, textFrame } from './frame.ts';

/** Minimum size of a compressed message, in bytes: shorter ones do not shrink. */
const MIN_COMPRESSED = 1024;
/** Maximum size of unread data before the socket counts as full, in bytes. */
const MAX_BUFFERED = 65_536;

export interface Wire {
  /** True while the client has unread data. */
  readonly isFull: boolean;
  /** Sends a message. Returns its size in bytes, 0 if the client has disconnected. */
  send(message: Bytes): number;
  /** Sends an answer that other clients may get, too. @param start text before the answer @returns like `send` */
  sendAnswer(start: Bytes, answer: SubscriptionAnswer): number;
  /** Stops tracking; nothing is sent any more. */
  release(): void;
}

/** Maximum number of waiting messages of one client that are timed individually. */
const MAX_TIMED = 1000;

/** Measures the times of one socket's messages. */
class MessageClock {
  readonly #times: SocketTimes;
  /** Start times of messages that the operating system has not accepted, by `performance.now()`. */
  #waiting: number[] = [];

  constructor(times: SocketTimes) {
    this.#times = times;
  }

  /** @param write writes a message; returns true if the operating system has accepted everything. @returns its result */
  timed(write: () => boolean): boolean {
    const began = performance.now();
    const isTaken = write();
    this.#times.write.observe((performance.now() - began) / 1000);
    if (isTaken) this.#times.queue.observe(0);
    else if (this.#waiting.length < MAX_TIMED) this.#waiting.push(began);
    return isTaken;
  }

  /** Called when the operating system has accepted everything. */
  drained(): void {
    const now = performance.now();
    for (const began of this.#waiting) this.#times.queue.observe((now - began) / 1000);
    this.#waiting = [];
  }
}

/** Tracks unread data, and disconnects a client that stops reading. */
function track(pending: PendingResponses, socket: Socket, size: number): PendingData {
  const held = pending.add(socket, size);
  const onTimeout = (): void => void socket.destroy();
  socket.setTimeout(pending.stall, onTimeout);
  return {
    grow: held.grow,
    release() {
      socket.setTimeout(0);
      socket.off('timeout', onTimeout);
      held.release();
    },
  };
}

/**
 * Writes frames without the library, which supports messages of any kind. For answers of subscriptions this is several times as fast, and
 * needs no buffer per message.
 */
export class PlainWire implements Wire {
  readonly #websocket: WebSocket;
  readonly #socket: Socket;
  readonly #pending: PendingResponses;
  #held: PendingData | null = null;

  /** @param onFlow called when `isFull` has changed */
  constructor(websocket: WebSocket, socket: Socket, pending: PendingResponses, onFlow: () => void) {
    this.#websocket = websocket;
    this.#socket = socket;
    this.#pending = pending;
    this.#onFlow = onFlow;
    const times = pending.times();
    this.#clock = times === null ? null : new MessageClock(times);
    socket.on('drain', () => {
      this.#clock?.drained();
      if (this.#held === null) return;
      this.release();
      onFlow();
    });
  }

  readonly #onFlow: () => void;
  readonly #clock: MessageClock | null;

  get isFull(): boolean {
    return this.#held !== null;
  }

  send(message: Bytes): number {
    return this.#isOpen ? this.#write(textFrame(message)) : 0;
  }

  sendAnswer(start: Bytes, answer: SubscriptionAnswer): number {
    return this.#isOpen ? this.#write(answerFrame(start, answer)) : 0;
  }

  get #isOpen(): boolean {
    const { readyState, OPEN } = this.#websocket;
    return readyState === OPEN && this.#socket.writable;
  }

  #write(frame: Bytes): number {
    this.#pending.traffic.sent += frame.length;
    const isTaken =
      this.#clock === null ? this.#socket.write(frame, 'latin1') : this.#clock.timed(() => this.#socket.write(frame, 'latin1'));
    if (this.#held !== null) this.#held.grow(frame.length);
    else if (!isTaken) {
      this.#held = track(this.#pending, this.#socket, this.#socket.writableLength);
      this.#onFlow();
    }
    return frame.length;
  }

  release(): void {
    this.#held?.release();
    this.#held = null;
  }
}

/** Uses the library for compression and framing. */
export class CompressedWire implements Wire {
  readonly #websocket: WebSocket;
  readonly #socket: Socket;
  readonly #pending: PendingResponses;
  readonly #onFlow: () => void;
  #held: PendingData | null = null;

  constructor(websocket: WebSocket, socket: Socket, pending: PendingResponses, onFlow: () => void) {
    this.#websocket = websocket;
    this.#socket = socket;
    this.#pending = pending;
    this.#onFlow = onFlow;
  }

  get isFull(): boolean {
    return this.#held !== null;
  }

  send(message: Bytes): number {
    const { readyState, OPEN } = this.#websocket;
    if (readyState !== OPEN) return 0;
    this.#pending.traffic.sent += message.length;
    const options = { binary: false, compress: message.length >= MIN_COMPRESSED };
    const times = this.#pending.times();
    const began = performance.now();
    this.#websocket.send(bufferOfBytes([message]), options, () => {
      times?.queue.observe((performance.now() - began) / 1000);
      this.#sent();
    });
    times?.write.observe((performance.now() - began) / 1000);
    if (this.#held !== null) this.#held.grow(message.length);
    else if (this.#websocket.bufferedAmount > MAX_BUFFERED) {
      this.#held = track(this.#pending, this.#socket, this.#websocket.bufferedAmount);
      this.#onFlow();
    }
    return message.length;
  }

  sendAnswer(start: Bytes, answer: SubscriptionAnswer): number {
    return this.send(answerMessage(start, answer));
  }

  release(): void {
    this.#held?.release();
    this.#held = null;
  }

  #sent(): void {
    if (this.#held === null || this.#websocket.bufferedAmount > 0) return;
    this.release();
    this.#onFlow();
  }
}
