/** The last answer of a cohort, for comparison: as bytes while the cache budget permits it, otherwise as a hash. */
import { createHash } from 'node:crypto';
import { type Bytes, sizeOfBytes } from '../util/bytes.ts';
import type { SubscriptionAnswer } from './subscriptions.ts';

/** Budget for the cached answers of all cohorts, in bytes. */
export class CacheBudget {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  take(bytes: number): boolean {
    if (bytes > MAX_ANSWER_SIZE || bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }

  release(bytes: number): void {
    this.#left += bytes;
  }
}

const MAX_ANSWER_SIZE = 32_768;

export class Version {
  readonly #budget: CacheBudget;
  #answer: SubscriptionAnswer | null;
  #digest: string | null = null;

  constructor(answer: SubscriptionAnswer, budget: CacheBudget) {
    this.#budget = budget;
    this.#answer = budget.take(sizeOfBytes(answer.body)) ? answer : null;
    if (this.#answer === null) this.#digest = answerDigest(answerText(answer));
  }

  /** The answer, if it is cached. */
  get answer(): SubscriptionAnswer | null {
    return this.#answer;
  }

  isSame(answer: SubscriptionAnswer): boolean {
    if (this.#answer !== null) return this.#answer === answer || answerText(this.#answer) === answerText(answer);
    return this.#digest !== null && this.#digest === answerDigest(answerText(answer));
  }

  /** Replaces the answer by its hash: it may still be compared, but is not sent again. */
  shrink(): void {
    if (this.#answer === null) return;
    this.#digest = answerDigest(answerText(this.#answer));
    this.#drop(this.#answer);
  }

  /** Drops the answer: it is not compared again. */
  release(): void {
    if (this.#answer !== null) this.#drop(this.#answer);
  }

  #drop(answer: SubscriptionAnswer): void {
    this.#budget.release(sizeOfBytes(answer.body));
    this.#answer = null;
  }
}

export function answerText({ body }: SubscriptionAnswer): Bytes {
  return body.length === 1 ? (body[0] as Bytes) : (body.join('') as Bytes);
}

export function answerDigest(text: Bytes): string {
  return createHash('sha256').update(text, 'latin1').digest('base64');
}
