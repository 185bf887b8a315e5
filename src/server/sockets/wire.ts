/** What goes out over one socket, and how much of it waits for the client. */
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { type Bytes, bufferOfBytes } from '../../util/bytes.ts';
import type { Answer } from '../../subscriptions/subscriptions.ts';
import type { Answers, Held, SocketTimes } from '../answers.ts';
import { answerFrame, answerMessage, textFrame } from './frame.ts';

/** Messages below this are not compressed: they would not get smaller. */
const MIN_COMPRESSED = 1024;
/** Bytes that may wait before the client counts as one that does not take its answers. */
const MOST_WAITING = 65_536;

export interface Wire {
  /** The client has not taken what it got. */
  readonly isFull: boolean;
  /** @returns the bytes of it; 0: the client is gone */
  send(message: Bytes): number;
  /** A message with an answer that others may get too. @param start what comes before the answer in it @returns as `send` */
  sendAnswer(start: Bytes, answer: Answer): number;
  /** Nothing is sent from now on. */
  release(): void;
}

/** Messages that wait for one client, beyond which their times are not told one by one. */
const MOST_TIMED = 1000;

/** Times the messages of one socket. */
class MessageClock {
  readonly #times: SocketTimes;
  /** When those were written that the operating system has not taken, by `performance.now()`. */
  #waiting: number[] = [];

  constructor(times: SocketTimes) {
    this.#times = times;
  }

  /** @param write writes a message @returns whether the operating system has taken all there is */
  timed(write: () => boolean): boolean {
    const began = performance.now();
    const isTaken = write();
    this.#times.write.observe((performance.now() - began) / 1000);
    if (isTaken) this.#times.queue.observe(0);
    else if (this.#waiting.length < MOST_TIMED) this.#waiting.push(began);
    return isTaken;
  }

  /** What waits is gone. */
  drained(): void {
    const now = performance.now();
    for (const began of this.#waiting) this.#times.queue.observe((now - began) / 1000);
    this.#waiting = [];
  }
}

/** Lets so much wait for a client, as long as it takes something of it. */
function hold(answers: Answers, socket: Socket, size: number): Held {
  const held = answers.hold(socket, size);
  const onTimeout = (): void => void socket.destroy();
  socket.setTimeout(answers.stall, onTimeout);
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
 * Writes frames itself: for the answers of subscriptions that is several times as fast as the way through the library,
 * which is there for messages of any kind, and takes no buffer for each of them.
 */
export class PlainWire implements Wire {
  readonly #websocket: WebSocket;
  readonly #socket: Socket;
  readonly #answers: Answers;
  #held: Held | null = null;

  /** @param onFlow called when `isFull` has changed */
  constructor(websocket: WebSocket, socket: Socket, answers: Answers, onFlow: () => void) {
    this.#websocket = websocket;
    this.#socket = socket;
    this.#answers = answers;
    this.#onFlow = onFlow;
    const times = answers.times();
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

  sendAnswer(start: Bytes, answer: Answer): number {
    return this.#isOpen ? this.#write(answerFrame(start, answer)) : 0;
  }

  get #isOpen(): boolean {
    const { readyState, OPEN } = this.#websocket;
    return readyState === OPEN && this.#socket.writable;
  }

  #write(frame: Bytes): number {
    this.#answers.traffic.sent += frame.length;
    const isTaken =
      this.#clock === null ? this.#socket.write(frame, 'latin1') : this.#clock.timed(() => this.#socket.write(frame, 'latin1'));
    if (this.#held !== null) this.#held.grow(frame.length);
    else if (!isTaken) {
      this.#held = hold(this.#answers, this.#socket, this.#socket.writableLength);
      this.#onFlow();
    }
    return frame.length;
  }

  release(): void {
    this.#held?.release();
    this.#held = null;
  }
}

/** Leaves compression and framing to the library. */
export class CompressedWire implements Wire {
  readonly #websocket: WebSocket;
  readonly #socket: Socket;
  readonly #answers: Answers;
  readonly #onFlow: () => void;
  #held: Held | null = null;

  constructor(websocket: WebSocket, socket: Socket, answers: Answers, onFlow: () => void) {
    this.#websocket = websocket;
    this.#socket = socket;
    this.#answers = answers;
    this.#onFlow = onFlow;
  }

  get isFull(): boolean {
    return this.#held !== null;
  }

  send(message: Bytes): number {
    const { readyState, OPEN } = this.#websocket;
    if (readyState !== OPEN) return 0;
    this.#answers.traffic.sent += message.length;
    const options = { binary: false, compress: message.length >= MIN_COMPRESSED };
    const times = this.#answers.times();
    const began = performance.now();
    this.#websocket.send(bufferOfBytes([message]), options, () => {
      times?.queue.observe((performance.now() - began) / 1000);
      this.#sent();
    });
    times?.write.observe((performance.now() - began) / 1000);
    if (this.#held !== null) this.#held.grow(message.length);
    else if (this.#websocket.bufferedAmount > MOST_WAITING) {
      this.#held = hold(this.#answers, this.#socket, this.#websocket.bufferedAmount);
      this.#onFlow();
    }
    return message.length;
  }

  sendAnswer(start: Bytes, answer: Answer): number {
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
