/** One operation of a socket, from the client's message to the last answer. */
import type { LoggedTrace } from '../../observability/observation.ts';
import type { Session } from '../../auth/session.ts';
import type { Counter } from '../../observability/metrics/registry.ts';
import type { SvcError } from '../../errors/svc-error.ts';
import type { Protocol } from '../../subscriptions/protocols/protocol.ts';
import { ANSWER_END } from '../../subscriptions/protocols/protocol.ts';
import type { SubscriptionAnswer, Subscriber, Subscription } from '../../subscriptions/subscriptions.ts';
import type { Bytes } from '../../util/bytes.ts';
import { CancellationSource } from '../../util/cancellation.ts';
import type { OperationOutcome } from '../operate.ts';
import { joinPieces } from './frame.ts';
import type { Wire } from './wire.ts';
import type { LoggedQuery } from '../query-logging.ts';

/** The connection of an operation. */
export interface OperationEnd {
  /** Called once, when the operation has ended. */
  ended(operation: SocketOperation, result: 'completed' | 'failed' | 'refused', error: SvcError | null): void;
}

export class SocketOperation implements Subscriber {
  readonly id: string;
  readonly requestId: string;
  /** Session at the start of the operation. */
  readonly session: Session;
  readonly name: string | null;
  /** For the log. */
  readonly query: LoggedQuery | null;
  readonly cancellation = new CancellationSource();
  /** Counter of sent bytes; `null` if metrics are off, or the operation is not known yet. */
  sent: Counter | null = null;
  /** Not set if tracing is off. */
  trace: LoggedTrace | undefined;
  readonly #protocol: Protocol;
  readonly #wire: Wire;
  readonly #connection: OperationEnd;
  #subscription: Subscription | null = null;
  #answerStart: Bytes | null = null;
  #isOver = false;
  /** True if an answer was not sent because the client had unread data. */
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

  /** True for a running subscription, false for queries, mutations and operations that are not known yet. */
  get isSubscription(): boolean {
    return this.#subscription !== null;
  }

  /** Handles the outcome of `operate`. */
  settle(outcome: OperationOutcome): void {
    if (this.#isOver) {
      if (outcome.kind === 'subscribed') outcome.subscription.close();
      return;
    }
    switch (outcome.kind) {
      case 'subscribed':
        this.#subscription = outcome.subscription;
        return;
      case 'answered':
        this.#send((this.#start() + joinPieces(outcome.body) + ANSWER_END) as Bytes);
        this.#end('completed', null, [this.#protocol.completed(this.id)]);
        return;
      case 'refused':
        this.#end('refused', outcome.error, this.#protocol.refusedOperation(this.id, [outcome.error]));
        return;
      case 'failed':
        this.#end('failed', outcome.error, this.#protocol.failedOperation(this.id, [outcome.error]));
    }
  }

  /** Stops the operation: the client has stopped it, or has disconnected. Nothing more is sent. */
  stop(): void {
    this.#isOver = true;
    this.cancellation.cancel();
    this.#subscription?.close();
  }

  /** Called when the client has read everything. */
  drained(): void {
    if (!this.#isBehind) return;
    this.#isBehind = false;
    this.#subscription?.drained();
  }

  next(answer: SubscriptionAnswer): void {
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

  #end(result: 'completed' | 'failed' | 'refused', error: SvcError | null, messages: readonly Bytes[]): void {
    this.#isOver = true;
    this.#subscription?.close();
    // Before the last message: the client may use the id again as soon as it gets that.
    this.#connection.ended(this, result, error);
    for (const message of messages) this.#send(message);
  }

  #send(message: Bytes): void {
    const bytes = this.#wire.send(message);
    if (this.sent !== null) this.sent.value += bytes;
  }
}
