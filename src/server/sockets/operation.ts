/** One operation of a socket, from the client's message to its last answer. */
import type { LoggedTrace } from '../../observability/observation.ts';
import type { Session } from '../../auth/session.ts';
import type { Counter } from '../../observability/metrics/registry.ts';
import type { SvcError } from '../../errors/svc-error.ts';
import type { Protocol } from '../../subscriptions/protocols/protocol.ts';
import { ANSWER_END } from '../../subscriptions/protocols/protocol.ts';
import type { Answer, Subscriber, Subscription } from '../../subscriptions/subscriptions.ts';
import type { Bytes } from '../../util/bytes.ts';
import { CancellationSource } from '../../util/cancellation.ts';
import type { Outcome } from '../operate.ts';
import { join } from './frame.ts';
import type { Wire } from './wire.ts';
import type { LoggedQuery } from '../query-logging.ts';

/** What an operation tells the connection that it belongs to. */
export interface OperationEnd {
  /** Nothing follows; called once. */
  ended(operation: SocketOperation, how: 'completed' | 'failed' | 'refused', error: SvcError | null): void;
}

export class SocketOperation implements Subscriber {
  readonly id: string;
  readonly requestId: string;
  /** Who has started it. */
  readonly session: Session;
  readonly name: string | null;
  /** For the log. */
  readonly query: LoggedQuery | null;
  readonly cancellation = new CancellationSource();
  /** Bytes that it has sent are added to it; null: nobody wants to know, or it is not known what it is. */
  sent: Counter | null = null;
  /** Absent: nothing is traced. */
  trace: LoggedTrace | undefined;
  readonly #protocol: Protocol;
  readonly #wire: Wire;
  readonly #connection: OperationEnd;
  #subscription: Subscription | null = null;
  #answerStart: Bytes | null = null;
  #isOver = false;
  /** An answer was held back. */
  #isBehind = false;

  constructor(
    { id, requestId, session, name, query }: Pick<SocketOperation, 'id' | 'requestId' | 'session' | 'name' | 'query'>,
    protocol: Protocol,
    wire: Wire,
    connection: OperationEnd,
  ) {
    this.id = id;
    this.requestId = requestId;
    this.session = session;
    this.name = name;
    this.query = query;
    this.#protocol = protocol;
    this.#wire = wire;
    this.#connection = connection;
  }

  /** A subscription that runs, and not a query, a mutation or what nobody knows yet. */
  get isSubscription(): boolean {
    return this.#subscription !== null;
  }

  /** What has become of it. */
  settle(outcome: Outcome): void {
    if (this.#isOver) {
      if (outcome.kind === 'subscribed') outcome.subscription.close();
      return;
    }
    switch (outcome.kind) {
      case 'subscribed':
        this.#subscription = outcome.subscription;
        return;
      case 'answered':
        this.#send((this.#start() + join(outcome.body) + ANSWER_END) as Bytes);
        this.#end('completed', null, [this.#protocol.completed(this.id)]);
        return;
      case 'refused':
        this.#end('refused', outcome.error, this.#protocol.refusedOperation(this.id, [outcome.error]));
        return;
      case 'failed':
        this.#end('failed', outcome.error, this.#protocol.failedOperation(this.id, [outcome.error]));
    }
  }

  /** The client does not want it any more, or is gone: it hears nothing more of it. */
  stop(): void {
    this.#isOver = true;
    this.cancellation.cancel();
    this.#subscription?.close();
  }

  /** The client has taken what it got. */
  drained(): void {
    if (!this.#isBehind) return;
    this.#isBehind = false;
    this.#subscription?.drained();
  }

  next(answer: Answer): void {
    if (this.#isOver) return;
    const bytes = this.#wire.sendAnswer(this.#start(), answer);
    if (this.sent !== null) this.sent.value += bytes;
  }

  failed(errors: readonly SvcError[], final: boolean): void {
    if (this.#isOver) return;
    if (final) this.#end('failed', errors[0] ?? null, this.#protocol.refusedOperation(this.id, errors));
    else this.#send(this.#protocol.interrupted(this.id, errors));
  }

  complete(): void {
    if (!this.#isOver) this.#end('completed', null, [this.#protocol.completed(this.id)]);
  }

  ready(): boolean {
    if (!this.#wire.isFull) return true;
    this.#isBehind = true;
    return false;
  }

  #start(): Bytes {
    this.#answerStart ??= this.#protocol.answerStart(this.id);
    return this.#answerStart;
  }

  #end(how: 'completed' | 'failed' | 'refused', error: SvcError | null, messages: readonly Bytes[]): void {
    this.#isOver = true;
    this.#subscription?.close();
    // The client may use the id again as soon as it knows.
    this.#connection.ended(this, how, error);
    for (const message of messages) this.#send(message);
  }

  #send(message: Bytes): void {
    const bytes = this.#wire.send(message);
    if (this.sent !== null) this.sent.value += bytes;
  }
}
