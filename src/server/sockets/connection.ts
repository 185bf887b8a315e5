/** One websocket: its messages, its operations and its lifetime. */
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { RawData, WebSocket } from 'ws';
import type { CredentialPlace } from '../../auth/credentials.ts';
import type { Session } from '../../auth/session.ts';
import { encodeLoggedError, toSvcError } from '../../errors/encode.ts';
import { SvcError } from '../../errors/svc-error.ts';
import type { SchemaApi } from '../../metadata/schema-api.ts';
import { documentOf } from '../../pipeline/document-of.ts';
import { decodeRequest, type GraphqlRequest } from '../../pipeline/request.ts';
import { requestJson } from '../../pipeline/query-observation.ts';
import type { RequestOptions } from '../../pipeline/request-run.ts';
import type { LoggedTrace, WebsocketObservation } from '../../observability/observation.ts';
import type { Effect, Protocol } from '../../subscriptions/protocols/protocol.ts';
import { CancellationSource } from '../../util/cancellation.ts';
import { incomingTrace } from '../../webhooks/trace-context.ts';
import { isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import type { PendingResponses } from '../pending-responses.ts';
import { decodeMeasured } from '../body.ts';
import type { ServerContext } from '../context.ts';
import { checkPage } from '../cross-site.ts';
import type { LongLivedConnection } from '../long-lived.ts';
import { setLongTimer } from '../long-timer.ts';
import { loggedRequest } from '../logged-query.ts';
import { operate } from '../operate.ts';
import { MessageLimiter } from './message-limiter.ts';
import { payloadHeaders } from './init-headers.ts';
import { OperationQueue } from './operation-queue.ts';
import { SocketOperation, type OperationEnd } from './operation.ts';
import { CompressedWire, PlainWire, type Wire } from './wire.ts';

export interface SocketLimits {
  /** Time within which a client must authenticate, in ms. */
  readonly initTimeout: number;
  /** Maximum number of concurrent operations of one socket. */
  readonly operations: number;
  /** Maximum size of a message, in bytes. */
  readonly message: number;
  /** Maximum size of the headers in the first message, in characters. */
  readonly headers: number;
  /** If true, keep-alive messages are sent; otherwise silent clients are only pinged. */
  readonly keepAlive: boolean;
}

export interface Handshake {
  /** All headers as sent. */
  readonly headers: IncomingHttpHeaders;
  /** Headers for authentication and forwarding. */
  readonly forwarded: IncomingHttpHeaders;
  readonly address: string;
}

export interface OpenedSocket {
  /** For the log. */
  readonly id: string;
  readonly websocket: WebSocket;
  /** The socket below the websocket. */
  readonly socket: Socket;
  readonly protocol: Protocol;
  readonly handshake: Handshake;
  readonly api: SchemaApi;
}

/** Maximum number of concurrent queries of one socket. */
const MAX_CONCURRENT = 16;
/** Heartbeats without data from the client until it is pinged, and until it is disconnected. */
const SILENT_BEATS = 6;
const GONE_BEATS = 12;
/** Maximum number of heartbeats while a message arrives. */
const MESSAGE_BEATS = 6;

type SocketEvent = WebsocketObservation['event'];

export class SocketConnection implements LongLivedConnection, OperationEnd {
  readonly id: string;
  readonly #context: ServerContext;
  readonly #limits: SocketLimits;
  readonly #websocket: WebSocket;
  readonly #protocol: Protocol;
  readonly #wire: Wire;
  readonly #messageLimiter: MessageLimiter;
  readonly #operations = new Map<string, SocketOperation>();
  readonly #queue = new OperationQueue(MAX_CONCURRENT);
  /** Cancelled when the client disconnects. */
  readonly #client = new CancellationSource();
  readonly #handshake: Handshake;
  readonly #api: SchemaApi;
  #session: Session | null = null;
  /** Headers of the handshake and of the first message, to be forwarded. */
  #headers: IncomingHttpHeaders = {};
  /** Messages received during authentication; `null` otherwise. */
  #waiting: { readonly data: Buffer; readonly isBinary: boolean }[] | null = null;
  #isClosing = false;
  /** Set to close once the running queries and mutations are done. */
  #goodbye: { readonly code: number; readonly reason: string } | null = null;
  /** Cancels the current timer: that of the authentication, or of the session's end. */
  #stopTimer: () => void;
  #silentBeats = 0;

  constructor(
    context: ServerContext,
    limits: SocketLimits,
    pending: PendingResponses,
    { id, websocket, socket, protocol, handshake, api }: OpenedSocket,
  ) {
    this.id = id;
    this.#context = context;
    this.#limits = limits;
    this.#websocket = websocket;
    this.#protocol = protocol;
    this.#handshake = handshake;
    this.#api = api;
    const onFlow = (): void => this.#flow();
    this.#wire =
      websocket.extensions === ''
        ? new PlainWire(websocket, socket, pending, onFlow)
        : new CompressedWire(websocket, socket, pending, onFlow);
    this.#messageLimiter = new MessageLimiter(socket, context.uploads, () =>
      this.close(1013, 'too many large messages are being received'),
    );
    this.#stopTimer = setLongTimer(Date.now() + limits.initTimeout, () => this.#perform(protocol.initTimedOut(), 0));
    websocket.on('message', (data, isBinary) => {
      pending.traffic.received += (data as Buffer).length;
      this.#onMessage(data, isBinary);
    });
    websocket.on('ping', (data) => this.#onControlFrame(data));
    websocket.on('pong', (data) => this.#onControlFrame(data));
    this.#log({ type: 'accepted' });
    if (limits.keepAlive) this.#wire.send(protocol.keepAlive);
  }

  /** Calls back when the socket has closed and all its operations have ended. */
  onClosed(closed: () => void): void {
    let fault: string | null = null;
    this.#websocket.on('error', (error) => {
      fault = error.message;
    });
    this.#websocket.on('close', () => {
      this.#end();
      this.#log({ type: 'closed' }, fault);
      closed();
    });
  }

  beat(): void {
    // While its answers are unread, nothing is read from the client: then reading them counts as activity.
    this.#silentBeats = this.#wire.isFull ? 0 : this.#silentBeats + 1;
    if (this.#silentBeats >= GONE_BEATS || this.#messageLimiter.beats() > MESSAGE_BEATS) this.terminate();
    // No keep-alive behind unread data.
    if (this.#isClosing || this.#wire.isFull) return;
    if (this.#silentBeats % SILENT_BEATS === 0) this.#websocket.ping();
    if (this.#limits.keepAlive) this.#wire.send(this.#protocol.keepAlive);
  }

  close(code: number, reason: string): void {
    if (this.#isClosing) return;
    this.#end();
    this.#websocket.close(code, reason);
    // Reads on to receive the closing handshake; other messages are ignored.
    this.#websocket.resume();
  }

  closeSoon(code: number, reason: string): void {
    this.#goodbye = { code, reason };
    for (const operation of this.#operations.values()) if (operation.isSubscription) this.#stop(operation);
    this.#closeWhenDone();
  }

  terminate(): void {
    this.#websocket.terminate();
  }

  ended(operation: SocketOperation, result: 'completed' | 'failed' | 'refused', error: SvcError | null): void {
    this.#operations.delete(operation.id);
    this.#logOperation(operation, result === 'completed' ? 'completed' : 'query_err', error);
    // Deferred until the last message of the operation has been sent.
    if (this.#goodbye !== null) setImmediate(() => this.#closeWhenDone());
  }

  #onMessage(data: RawData, isBinary: boolean): void {
    this.#silentBeats = 0;
    this.#messageLimiter.received();
    if (this.#isClosing) return;
    // With the default type of the library, a message is one buffer, however many frames it had.
    if (this.#waiting !== null) this.#waiting.push({ data: data as Buffer, isBinary });
    else this.#receive(data as Buffer, isBinary);
  }

  #onControlFrame(data: Buffer): void {
    this.#silentBeats = 0;
    this.#messageLimiter.control(data.length);
  }

  #receive(data: Buffer, isBinary: boolean): void {
    const isTaken = (id: string): boolean => this.#operations.has(id);
    try {
      if (isBinary) throw new SvcError('invalid-json', 'expected text, but found binary data');
      const { json, depth } = decodeMeasured(data.toString('utf8'), 'the message', this.#context.options.jsonSizeLimit);
      this.#perform(this.#protocol.receive(json, isTaken), depth);
    } catch (thrown) {
      if (!(thrown instanceof SvcError)) throw thrown;
      this.#perform(this.#protocol.garbled(thrown.message), 0);
    }
  }

  /** @param depth nesting of the message that caused the effects */
  #perform(effects: readonly Effect[], depth: number): void {
    for (const effect of effects) {
      if (this.#isClosing) return;
      switch (effect.kind) {
        case 'send':
          this.#wire.send(effect.message);
          break;
        case 'close':
          this.close(effect.code, effect.reason);
          break;
        case 'authenticate':
          void this.#authenticate(effect.headers, effect.alone);
          break;
        case 'start':
          // The request is one level below the message.
          this.#start(effect.id, effect.request, depth - 1);
          break;
        case 'stop': {
          const operation = this.#operations.get(effect.id);
          if (operation !== undefined) this.#stop(operation);
        }
      }
    }
  }

  async #authenticate(initHeaders: JsonObject, alone: boolean): Promise<void> {
    this.#waiting = [];
    this.#flow();
    // After a repeated authentication, the end of the earlier session still applies.
    if (this.#session === null) this.#stopTimer();
    let effects: readonly Effect[];
    try {
      const payload = payloadHeaders(initHeaders, this.#limits.headers);
      const headers = alone ? payload : { ...this.#handshake.forwarded, ...payload };
      this.#checkPage(this.#context.authenticator.place(headers));
      const found = this.#context.authenticator.authenticate({ headers }, null, this.#client);
      this.#session = found instanceof Promise ? (await found).session : found;
      this.#headers = headers;
      if (this.#isClosing) return;
      effects = this.#protocol.accepted();
      this.#endWithSession();
    } catch (thrown) {
      if (!(thrown instanceof SvcError)) this.#context.observe({ kind: 'unexpected', message: 'authentication failed', error: thrown });
      const error = toSvcError(thrown);
      if (!this.#isClosing) this.#log({ type: 'conn_err', error: encodeLoggedError(error) });
      effects = this.#protocol.refused(error);
    }
    const messages = this.#waiting ?? [];
    this.#waiting = null;
    this.#perform(effects, 0);
    this.#flow();
    for (const { data, isBinary } of messages) {
      if (this.#isClosing) return;
      // Any of them may start another authentication.
      if (this.#waiting === null) this.#receive(data, isBinary);
      else (this.#waiting as { data: Buffer; isBinary: boolean }[]).push({ data, isBinary });
    }
  }

  /** Checks the page that opened the socket, which only the handshake identifies. @throws SvcError access-denied */
  #checkPage(place: CredentialPlace): void {
    checkPage('GET', this.#handshake.headers, place, this.#context.pages);
  }

  /** Closes the socket when its session ends, or an earlier session with running operations does. Clients then authenticate again. */
  #endWithSession(): void {
    this.#stopTimer();
    const end = this.#firstEnd();
    if (end === Number.POSITIVE_INFINITY) return;
    this.#stopTimer = setLongTimer(end, () => {
      // Clients reconnect at once after this code.
      if (this.#firstEnd() <= end) this.close(1000, 'the session has ended');
      else this.#endWithSession();
    });
  }

  /** Returns the earliest end of a session in use, in epoch milliseconds. */
  #firstEnd(): number {
    const sessions = [this.#session, ...[...this.#operations.values()].map(({ session }) => session)];
    return Math.min(...sessions.map((session) => session?.expiresAt ?? Number.POSITIVE_INFINITY));
  }

  #start(id: string, payload: Json, depth: number): void {
    const session = this.#session as Session;
    const { queryLogging, requestTimeout } = this.#context.options;
    const requestId = randomUUID();
    let request: GraphqlRequest | null = null;
    let refused: SvcError | null = null;
    try {
      const { pipeline, state } = this.#context;
      request = documentOf(decodeRequest(payload, depth, this.#api), { pipeline, snapshot: state.current(), session });
      if (this.#goodbye !== null) throw new SvcError('unexpected', 'the server is shutting down', { status: 503 });
      if (this.#operations.size >= this.#limits.operations) {
        throw new SvcError('busy', `the limit of ${this.#limits.operations} concurrent operations of a socket is reached`, {
          status: 429,
        });
      }
    } catch (thrown) {
      refused = toSvcError(thrown);
    }
    const operation = new SocketOperation(
      {
        id,
        requestId,
        session,
        name: request?.operationName ?? operationNameOf(payload),
        query: request === null || !queryLogging.enabled ? null : loggedRequest(requestJson(request), queryLogging),
      },
      this.#protocol,
      this.#wire,
      this,
    );
    this.#operations.set(id, operation);
    if (request === null || refused !== null) {
      this.#logOperation(operation, 'started', null);
      operation.settle({ kind: 'refused', error: refused as SvcError });
      return;
    }
    const options = {
      signal: operation.cancellation,
      requestId,
      ...(requestTimeout === 0 ? {} : { deadline: Date.now() + requestTimeout }),
      address: this.#handshake.address,
      headers: this.#headers,
      onOperation: this.#counts(operation, request),
    };
    const span = this.#context.tracing.current()?.begin('websocket operation', 'server', incomingTrace(this.#headers));
    span?.set('svc.request_id', requestId).set('user.roles', [session.role]).set('client.address', this.#handshake.address);
    operation.trace = span;
    this.#logOperation(operation, 'started', null);
    void operate(this.#context, session, request, { ...options, trace: span }, this.#queue, operation).then((outcome) => {
      if ('error' in outcome && outcome.error.status >= 500) span?.fail(outcome.error.code);
      span?.end();
      operation.settle(outcome);
      if (this.#goodbye !== null && operation.isSubscription) this.#stop(operation);
    });
  }

  /** Counts the sent bytes of an operation once it is known; `undefined` if metrics are off. */
  #counts(operation: SocketOperation, request: GraphqlRequest): RequestOptions['onOperation'] {
    const { pipeline } = this.#context;
    const meter = this.#context.meter.current();
    if (meter === null) return undefined;
    return (known) => {
      const labels = pipeline.meter?.current()?.labelsOf(known, request);
      if (labels !== undefined) operation.sent = meter.sentOf(labels);
    };
  }

  #stop(operation: SocketOperation): void {
    operation.stop();
    this.#operations.delete(operation.id);
    this.#logOperation(operation, 'stopped', null);
    if (this.#goodbye !== null) this.#closeWhenDone();
  }

  #closeWhenDone(): void {
    if (this.#goodbye !== null && this.#operations.size === 0) this.close(this.#goodbye.code, this.#goodbye.reason);
  }

  /** Pauses reading while the client does not read, and during authentication. */
  #flow(): void {
    if (this.#isClosing) return;
    const { isFull } = this.#wire;
    this.#queue.pause(isFull);
    if (isFull || this.#waiting !== null) this.#websocket.pause();
    else this.#websocket.resume();
    if (!isFull) for (const operation of this.#operations.values()) operation.drained();
  }

  /** Stops all operations. */
  #end(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#stopTimer();
    this.#client.cancel();
    for (const operation of this.#operations.values()) {
      operation.stop();
      this.#logOperation(operation, 'stopped', null);
    }
    this.#operations.clear();
    // Pending operations start and find that they were stopped.
    this.#queue.pause(false);
    this.#messageLimiter.end();
    this.#wire.release();
  }

  #logOperation(operation: SocketOperation, type: 'started' | 'completed' | 'stopped' | 'query_err', error: SvcError | null): void {
    const { queryLogging } = this.#context.options;
    const { query } = operation;
    const event: SocketEvent = {
      type: 'operation',
      operationId: operation.id,
      requestId: operation.requestId,
      operationName: operation.name,
      state: type,
      error: error === null ? null : encodeLoggedError(error),
      query: query === null ? null : queryLogging.onlyOnError && error === null ? query.name : query.whole,
    };
    this.#log(event, null, operation.trace);
  }

  #log(event: SocketEvent, message: string | null = null, trace?: LoggedTrace): void {
    this.#context.observe({
      kind: 'websocket',
      websocketId: this.id,
      userVariables: this.#session?.variables ?? null,
      expiresAt: this.#session?.expiresAt ?? null,
      message,
      event,
      trace,
    });
  }
}

function operationNameOf(payload: Json): string | null {
  const name = isJsonObject(payload) ? payload['operationName'] : null;
  return typeof name === 'string' && name.length <= 1000 ? name : null;
}
