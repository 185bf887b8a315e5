/** Subscribers that share all values: one answer serves them. */
import type { SvcError } from '../errors/svc-error.ts';
import type { Answer, Subscriber, Subscription } from './subscriptions.ts';
import type { Sliced } from '../util/sliced.ts';
import { type Room, Version } from './version.ts';
import type { Session } from '../auth/session.ts';
import type { GraphqlRequest } from '../pipeline/request.ts';

/** What a cohort asks of its poller. */
export interface CohortOwner {
  readonly room: Room;
  /** Somebody can take answers again. */
  wanted(cohort: Cohort): void;
  leave(member: Member): void;
  /** Where a stream with these values goes on; undefined: it is none. */
  cursorOf(values: readonly (string | null)[]): string | null | undefined;
}

export class Cohort {
  readonly owner: CohortOwner;
  readonly members = new Set<Member>();
  /** Those of the statement's parameters; of a stream one of them is the cursor. */
  values: readonly (string | null)[];
  /** Whether they mean the same at any time. */
  readonly isTimeless: boolean;
  /** The snapshot for which there is nothing new; null: look. */
  seen: string | null = null;
  isRunning = false;
  /** Runs that failed since the last one that did not, through no fault of the database's. */
  failures = 0;
  /** `performance.now()` since when the database has been out of reach; null: it is not. */
  awaySince: number | null = null;
  /** `performance.now()` before which it is not tried again. */
  notBefore = 0;
  /** The database takes so long for it that others should not wait for it. */
  isSlow = false;
  hasAnswered = false;
  /** Bytes that the next run is expected to read for it; `null` if it has not run. */
  size: number | null = null;
  #version: Version | null = null;

  constructor(owner: CohortOwner, values: readonly (string | null)[], isTimeless: boolean) {
    this.owner = owner;
    this.values = values;
    this.isTimeless = isTimeless;
  }

  /** It runs alone, and nobody waits for it: it takes long, or may make others fail. */
  get isApart(): boolean {
    return this.isSlow || this.failures > 0;
  }

  get isWanted(): boolean {
    for (const member of this.members) if (member.isReady) return true;
    return false;
  }

  /** What all have got who were ready; null: nothing, or it has not been kept. */
  get latest(): Answer | null {
    return this.#version?.answer ?? null;
  }

  /** Whether everybody has got this; nothing has to be sent then. */
  isKnown(answer: Answer): boolean {
    if (this.#version?.isSame(answer) !== true) return false;
    for (const { known } of this.members) if (known !== this.#version) return false;
    return true;
  }

  /**
   * Sends the answer to all members that lack it and are ready, one in each step; the others get the newest one when they are ready. A
   * newer answer may be sent meanwhile.
   * @returns how many got it
   */
  *give(answer: Answer): Sliced<number> {
    let version = this.#version;
    let shared = answer;
    if (version?.isSame(answer) === true) shared = version.answer ?? answer;
    else {
      version?.release();
      version = this.#version = new Version(answer, this.owner.room);
    }
    let given = 0;
    for (const member of [...this.members]) {
      // It may have left between two steps; and what is newer has been given to all.
      if (this.#version !== version) return given;
      if (member.cohort !== this || member.known === version) continue;
      if (member.known?.isSame(answer) === true) member.known = version;
      else if (member.isReady) {
        member.known = version;
        member.give(shared);
        given += 1;
        yield;
      }
    }
    return given;
  }

  /** Sends a member that is ready again the newest answer, or has it read again if it was too large to be kept. */
  drained(member: Member): void {
    const version = this.#version;
    if (version !== null && member.known !== version && member.isReady) {
      if (version.answer === null) this.seen = null;
      else {
        member.known = version;
        member.give(version.answer);
      }
    }
    this.owner.wanted(this);
  }

  fail(error: SvcError, final: boolean): void {
    for (const member of [...this.members]) member.fail(error, final);
  }

  /** Nobody will be given anything any more; what members know is kept small until they know something else. */
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
  /** What it got last; null: nothing, or an error. */
  known: Version | null = null;
  /** The error that it was told last, until it gets an answer. */
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

  /** Where its stream goes on; undefined: it has none. */
  get cursor(): string | null | undefined {
    return this.cohort?.owner.cursorOf(this.cohort.values);
  }

  give(answer: Answer): void {
    if (this.#isOver) return;
    this.#error = null;
    this.#subscriber.next(answer);
  }

  /** Told once, until something else has happened. */
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
