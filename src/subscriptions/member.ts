/** One subscriber with what it asked for: a member of a cohort, and of another one when its request is planned anew. */
import type { Session } from '../auth/session.ts';
import type { SvcError } from '../errors/svc-error.ts';
import type { GraphqlRequest } from '../graphql/request.ts';
import type { Cohort } from './cohort.ts';
import type { Answer, Subscriber, Subscription } from './subscriptions.ts';
import type { Version } from './version.ts';

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
