/** Subscribers that share all values, so that one answer serves all of them. */
import type { SvcError } from '../errors/svc-error.ts';
import type { SubscriptionAnswer, Subscriber, Subscription } from './subscriptions.ts';
import type { Cooperative } from '../util/cooperative.ts';
import { type CacheBudget, Version } from './version.ts';
import type { Session } from '../auth/session.ts';
import type { GraphqlRequest } from '../pipeline/request.ts';

/** The poller of a cohort. */
export interface CohortOwner {
  readonly cacheBudget: CacheBudget;
  /** Called when a member can take answers again. */
  onReady(cohort: Cohort): void;
  leave(member: Member): void;
  /** Returns the cursor of a stream among these values; `undefined` if it is not a stream. */
  cursorOf(values: readonly (string | null)[]): string | null | undefined;
}

export class Cohort {
  readonly owner: CohortOwner;
  readonly members = new Set<Member>();
  /** Parameter values of the statement; for a stream, one of them is the cursor. */
  values: readonly (string | null)[];
  /** False if values such as "now" depend on the time. */
  readonly isTimeless: boolean;
  /** Snapshot that the last answer reflects; `null` if the cohort has to run. */
  seen: string | null = null;
  isRunning = false;
  /** Consecutive failed runs, except while the database is unavailable. */
  failures = 0;
  /** `performance.now()` since when the database has been unavailable; `null` if it is available. */
  awaySince: number | null = null;
  /** `performance.now()` of the earliest next run. */
  notBefore = 0;
  /** The statement is slow for this cohort, so that others should not wait for it. */
  isSlow = false;
  hasAnswered = false;
  /** Expected bytes of the next run; `null` before the first one. */
  size: number | null = null;
  #version: Version | null = null;

  constructor(owner: CohortOwner, values: readonly (string | null)[], isTimeless: boolean) {
    this.owner = owner;
    this.values = values;
    this.isTimeless = isTimeless;
  }

  /** True if it runs alone, because it is slow or may make a batch fail. */
  get runsAlone(): boolean {
    return this.isSlow || this.failures > 0;
  }

  get hasReadyMember(): boolean {
    for (const member of this.members) if (member.isReady) return true;
    return false;
  }

  /** The newest answer, which all ready members have; `null` if there is none, or it was too large for the cache. */
  get latest(): SubscriptionAnswer | null {
    return this.#version?.answer ?? null;
  }

  /** Returns true if all members have this answer, so nothing has to be sent. */
  isKnown(answer: SubscriptionAnswer): boolean {
    if (this.#version?.isSame(answer) !== true) return false;
    for (const { known } of this.members) if (known !== this.#version) return false;
    return true;
  }

  /**
   * Sends the answer to all members that lack it and are ready, one in each step; the others get the newest one when they are ready. A
   * newer answer may be sent meanwhile. Returns the number of messages.
   */
  *send(answer: SubscriptionAnswer): Cooperative<number> {
    let version = this.#version;
    let shared = answer;
    if (version?.isSame(answer) === true) shared = version.answer ?? answer;
    else {
      version?.release();
      version = this.#version = new Version(answer, this.owner.cacheBudget);
    }
    let sent = 0;
    for (const member of [...this.members]) {
      // Between two steps, members may leave, and a newer answer may have been sent to all.
      if (this.#version !== version) return sent;
      if (member.cohort !== this || member.known === version) continue;
      if (member.known?.isSame(answer) === true) member.known = version;
      else if (member.isReady) {
        member.known = version;
        member.send(shared);
        sent += 1;
        yield;
      }
    }
    return sent;
  }

  /** Sends the newest answer to a member that is ready again, or reads it again if it was not cached. */
  drained(member: Member): void {
    const version = this.#version;
    if (version !== null && member.known !== version && member.isReady) {
      if (version.answer === null) this.seen = null;
      else {
        member.known = version;
        member.send(version.answer);
      }
    }
    this.owner.onReady(this);
  }

  fail(error: SvcError, final: boolean): void {
    for (const member of [...this.members]) member.fail(error, final);
  }

  /** Stops delivery. The last answer is reduced to its hash, against which members still compare. */
  end(): void {
    this.#version?.shrink();
    this.#version = null;
  }
}

export class Member implements Subscription {
  readonly session: Session;
  readonly request: GraphqlRequest;
  readonly #subscriber: Subscriber;
  readonly #onClose: (member: Member) => void;
  cohort: Cohort | null = null;
  /** The last answer that was sent; `null` if none, or after an error. */
  known: Version | null = null;
  /** The last error that was sent, until an answer is sent. */
  #error: string | null = null;
  #isOver = false;

  constructor(session: Session, request: GraphqlRequest, subscriber: Subscriber, onClose: (member: Member) => void) {
    this.session = session;
    this.request = request;
    this.#subscriber = subscriber;
    this.#onClose = onClose;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get isReady(): boolean {
    return !this.#isOver && this.#subscriber.ready();
  }

  /** Cursor of its stream; `undefined` if it has none. */
  get cursor(): string | null | undefined {
    return this.cohort?.owner.cursorOf(this.cohort.values);
  }

  send(answer: SubscriptionAnswer): void {
    if (this.#isOver) return;
    this.#error = null;
    this.#subscriber.next(answer);
  }

  /** Sends an error, but not the same one twice in a row. */
  fail(error: SvcError, final: boolean): void {
    if (this.#isOver) return;
    const text = `${error.code} ${error.message}`;
    if (!final && this.#error === text) return;
    this.#error = text;
    this.known = null;
    if (final) this.close();
    this.#subscriber.failed([error], final);
  }

  leave(): void {
    this.cohort?.owner.leave(this);
  }

  drained(): void {
    if (!this.#isOver) this.cohort?.drained(this);
  }

  close(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#onClose(this);
  }
}
