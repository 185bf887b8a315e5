/** Server-sent events for one operation, over a response that stays open. */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Session } from '../auth/session.ts';
import type { SvcError } from '../errors/svc-error.ts';
import type { GraphqlRequest } from '../pipeline/request.ts';
import type { RequestOptions } from '../pipeline/request-run.ts';
import { ANSWER_START, COMPLETED, errorEvent, EVENT_END, EVENT_STREAM_TYPE, KEEP_ALIVE } from '../subscriptions/protocols/sse.ts';
import type { SubscriptionAnswer, Subscriber, Subscription } from '../subscriptions/subscriptions.ts';
import type { Bytes } from '../util/bytes.ts';
import { CancellationSource } from '../util/cancellation.ts';
import { preferences } from './accept.ts';
import type { PendingResponses, PendingData } from './pending-responses.ts';
import type { LongLived, LongLivedConnection } from './long-lived.ts';
import { type Operating, operate } from './operate.ts';
import type { Reply } from './reply.ts';
import { setLongTimer } from './long-timer.ts';

const EVENT_STREAM = 'text/event-stream';

/** Returns true if the client prefers events to JSON. */
export function wantsEvents(accept: string | undefined): boolean {
  if (accept === undefined || !accept.toLowerCase().includes(EVENT_STREAM)) return false;
  let best = 0;
  let isBest = false;
  for (const { name, weight } of preferences(accept)) {
    if (weight <= best) continue;
    if (name === EVENT_STREAM) isBest = true;
    else if (name.endsWith('/json') || name.endsWith('+json') || name === '*/*' || name === 'application/*') isBest = false;
    else continue;
    best = weight;
  }
  return isBest;
}

/** The services of an open event stream. */
export interface StreamParts {
  readonly context: Operating;
  readonly longLived: LongLived;
  readonly pending: PendingResponses;
}

/** @throws SvcError busy if there are too many long-lived connections */
export function eventStreamReply(
  { context, longLived, pending }: StreamParts,
  session: Session,
  request: GraphqlRequest,
  options: RequestOptions,
): Reply {
  longLived.checkLimit();
  return {
    status: 200,
    contentType: EVENT_STREAM_TYPE,
    body: [],
    // Proxies must neither store nor buffer the stream.
    headers: { 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' },
    events: (response, socket) => {
      const stream = new EventStream(response, socket, pending, longLived.keepsAlive);
      const remove = longLived.add(stream);
      return stream.run(context, session, request, options).finally(remove);
    },
  };
}

const bodies = new WeakMap<SubscriptionAnswer, Bytes>();

class EventStream implements LongLivedConnection, Subscriber {
  readonly #response: ServerResponse;
  readonly #socket: Socket;
  readonly #pending: PendingResponses;
  readonly #keepsAlive: boolean;
  readonly #cancellation = new CancellationSource();
  #subscription: Subscription | null = null;
  #held: PendingData | null = null;
  #isBehind = false;
  #sent = 0;
  #isOver = false;
  /** True if a subscription that is still being opened has to end. */
  #isEnding = false;
  #finish: (() => void) | null = null;
  #error: SvcError | null = null;

  constructor(response: ServerResponse, socket: Socket, pending: PendingResponses, keepsAlive: boolean) {
    this.#response = response;
    this.#socket = socket;
    this.#pending = pending;
    this.#keepsAlive = keepsAlive;
    response.on('drain', () => this.#drained());
    response.on('close', () => this.#end());
  }

  /** Resolves when the stream has ended. */
  async run(context: Operating, session: Session, request: GraphqlRequest, options: RequestOptions): Promise<EventsSent> {
    const over = new Promise<void>((resolve) => {
      this.#finish = resolve;
    });
    const { expiresAt } = session;
    const stopTimer = expiresAt === undefined ? null : setLongTimer(expiresAt, () => this.#end());
    // Sent at once, so that the client sees an open stream.
    this.#write(KEEP_ALIVE);
    const outcome = await operate(context, session, request, { ...options, signal: this.#cancellation }, null, this);
    if (outcome.kind === 'subscribed') {
      this.#subscription = outcome.subscription;
      if (this.#isOver) outcome.subscription.close();
      else if (this.#isEnding) this.#end();
      await over;
    } else if (outcome.kind === 'answered') {
      this.#write(eventOf(outcome.body));
      this.complete();
    } else {
      this.#error = outcome.error;
      this.failed([outcome.error], true);
    }
    stopTimer?.();
    return { size: this.#sent, error: this.#error };
  }

  next(answer: SubscriptionAnswer): void {
    let event = bodies.get(answer);
    if (event === undefined) {
      event = eventOf(answer.body);
      bodies.set(answer, event);
    }
    this.#write(event);
  }

  failed(errors: readonly SvcError[], final: boolean): void {
    this.#write(errorEvent(errors));
    if (final) this.complete();
  }

  complete(): void {
    this.#write(COMPLETED);
    this.#end();
  }

  ready(): boolean {
    if (this.#held === null) return true;
    this.#isBehind = true;
    return false;
  }

  beat(): void {
    if (this.#keepsAlive && this.#held === null) this.#write(KEEP_ALIVE);
  }

  /** Ends the stream without the `complete` event, so that the client connects again. */
  close(): void {
    this.#end();
  }

  closeSoon(): void {
    this.#isEnding = true;
    if (this.#subscription !== null) this.#end();
  }

  terminate(): void {
    this.#socket.destroy();
  }

  #write(event: Bytes): void {
    if (this.#isOver || this.#response.destroyed) return;
    this.#sent += event.length;
    const isTaken = this.#response.write(event, 'latin1');
    if (this.#held !== null) this.#held.grow(event.length);
    else if (!isTaken) this.#held = this.#pending.add(this.#socket, this.#response.writableLength);
  }

  #drained(): void {
    this.#held?.release();
    this.#held = null;
    if (!this.#isBehind) return;
    this.#isBehind = false;
    this.#subscription?.drained();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#held?.release();
    this.#held = null;
    this.#cancellation.cancel();
    this.#subscription?.close();
    if (!this.#response.destroyed) this.#response.end();
    this.#finish?.();
  }
}

/** Result of a stream, for the log. */
interface EventsSent {
  readonly size: number;
  readonly error: SvcError | null;
}

/** Replaces line breaks, which end lines of an event. Databases put them between the values of JSON only, never into them. */
function eventOf(body: readonly Bytes[]): Bytes {
  return `${ANSWER_START}${body.join('').replace(/[\r\n]/g, ' ')}${EVENT_END}` as Bytes;
}
