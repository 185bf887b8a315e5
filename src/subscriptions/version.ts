/** What a subscriber has been given last, kept so that the same is not sent again: as bytes while there is room, else as a hash. */
import { createHash } from 'node:crypto';
import { type Bytes, sizeOfBytes } from '../util/bytes.ts';
import type { Answer } from './subscriptions.ts';

/** Bytes of answers that all cohorts may keep together. */
export class Room {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  take(bytes: number): boolean {
    if (bytes > MOST_OF_ONE || bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }

  giveBack(bytes: number): void {
    this.#left += bytes;
  }
}

const MOST_OF_ONE = 32_768;

export class Version {
  readonly #room: Room;
  #answer: Answer | null;
  #digest: string | null = null;

  constructor(answer: Answer, room: Room) {
    this.#room = room;
    this.#answer = room.take(sizeOfBytes(answer.body)) ? answer : null;
    if (this.#answer === null) this.#digest = digestOf(textOf(answer));
  }

  /** The answer, where it has been kept. */
  get answer(): Answer | null {
    return this.#answer;
  }

  isSame(answer: Answer): boolean {
    if (this.#answer !== null) return this.#answer === answer || textOf(this.#answer) === textOf(answer);
    return this.#digest !== null && this.#digest === digestOf(textOf(answer));
  }

  /** Keeps the hash alone: it may be asked about for a while, but the answer is not needed again. */
  shrink(): void {
    if (this.#answer === null) return;
    this.#digest = digestOf(textOf(this.#answer));
    this.#drop(this.#answer);
  }

  /** It will not be asked about again; if it is, nothing is the same. */
  release(): void {
    if (this.#answer !== null) this.#drop(this.#answer);
  }

  #drop(answer: Answer): void {
    this.#room.giveBack(sizeOfBytes(answer.body));
    this.#answer = null;
  }
}

export function textOf({ body }: Answer): Bytes {
  return body.length === 1 ? (body[0] as Bytes) : (body.join('') as Bytes);
}

export function digestOf(text: Bytes): string {
  return createHash('sha256').update(text, 'latin1').digest('base64');
}
