/** One websocket of a client: its messages, its operations and how long it lives. */
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { RawData, WebSocket } from 'ws';
import type { CredentialPlace } from '../../auth/credentials.ts';
import type { Session } from '../../auth/session.ts';
import { encodeLoggedError, toSvcError } from '../../errors/encode.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { decodeRequest, type GraphqlRequest } from '../../pipeline/request.ts';
import { requestJson } from '../../pipeline/query-observation.ts';
import type { RequestOptions } from '../../pipeline/request-run.ts';
import type { LoggedTrace, WebsocketObservation } from '../../observability/observation.ts';
import type { Effect, Protocol } from '../../subscriptions/protocols/protocol.ts';
import { CancellationSource } from '../../util/cancellation.ts';
import { incomingTrace } from '../../webhooks/trace-context.ts';
import { isJsonObject, type Json, type JsonObject } from '../../util/json.ts';
import type { Answers } from '../answers.ts';
import { decodeMeasured } from '../body.ts';
import type { ServerContext } from '../context.ts';
import { checkPage } from '../cross-site.ts';
import type { LongLivedConnection } from '../long-lived.ts';
import { setLongTimer } from '../long-timer.ts';
import { loggedRequest } from '../logged-query.ts';
import { operate } from '../operate.ts';
import { Intake } from './intake.ts';
import { payloadHeaders } from './init-headers.ts';
import { Lane } from './lane.ts';
import { SocketOperation, type OperationEnd } from './operation.ts';
import { CompressedWire, PlainWire, type Wire } from './wire.ts';

export interface SocketLimits {
  /** ms in which a client says who it is */
  readonly initTimeout: number;
  /** operations of one socket at the same time */
  readonly operations: number;
  /** bytes */
  readonly message: number;
  /** characters of the headers in the first message */
  readonly headers: number;
  /** Whether messages that keep connections alive are sent; else silence is looked at alone. */
  readonly keepAlive: boolean;
}

export interface Handshake {
  /** As they came. */
  readonly headers: IncomingHttpHeaders;
  /** Of these, what may say who the client is. */
  readonly kept: IncomingHttpHeaders;
  readonly address: string;
}

export interface OpenedSocket {
  /** For the log. */
  readonly id: string;
  readonly websocket: WebSocket;
  /** Below it. */
  readonly socket: Socket;
  readonly protocol: Protocol;
  readonly handshake: Handshake;
}

/** Queries of one socket that run side by side. */
const SIDE_BY_SIDE = 16;
/** Beats without a sign of the client before it is asked for one, and before it counts as gone. */
const SILENT_BEATS = 6;
const GONE_BEATS = 12;
/** Beats in which a message has to arrive that has begun to. */
const MESSAGE_BEATS = 6;

type Told = WebsocketObservation['event'];

export class SocketConnection implements LongLivedConnection, OperationEnd {
  readonly id: string;
  readonly #context: ServerContext;
  readonly #limits: SocketLimits;
  readonly #websocket: WebSocket;
  readonly #protocol: Protocol;
  readonly #wire: Wire;
  readonly #intake: Intake;
  readonly #operations = new Map<string, SocketOperation>();
  readonly #lane = new Lane(SIDE_BY_SIDE);
  /** Cancelled when the client goes away. */
  readonly #client = new CancellationSource();
  readonly #handshake: Handshake;
  #session: Session | null = null;
  /** Of the handshake and of the first message, for servers that may see them. */
  #headers: IncomingHttpHeaders = {};
  /** Messages that came while it is found out who the client is; null when nobody is asked. */
  #waiting: { readonly data: Buffer; readonly isBinary: boolean }[] | null = null;
  #isClosing = false;
  /** Close when the queries and mutations that run are done, with this reason. */
  #goodbye: { readonly code: number; readonly reason: string } | null = null;
  /** Gives up what is waited for: that the client says who it is, then the end of its session. */
  #stopTimer: () => void;
  #silentBeats = 0;

  constructor(
    context: ServerContext,
    limits: SocketLimits,
    answers: Answers,
    { id, websocket, socket, protocol, handshake }: OpenedSocket,
  ) {
    this.id = id;
    this.#context = context;
    this.#limits = limits;
    this.#websocket = websocket;
    this.#protocol = protocol;
    this.#handshake = handshake;
    const onFlow = (): void => this.#flow();
    this.#wire =
      websocket.extensions === ''
        ? new PlainWire(websocket, socket, answers, onFlow)
        : new CompressedWire(websocket, socket, answers, onFlow);
    this.#intake = new Intake(socket, context.uploads, () => this.close(1013, 'too many large messages are on their way to the service'));
    this.#stopTimer = setLongTimer(Date.now() + limits.initTimeout, () => this.#perform(protocol.initTimedOut(), 0));
    websocket.on('message', (data, isBinary) => {
      answers.traffic.received += (data as Buffer).length;
      this.#onMessage(data, isBinary);
    });
    websocket.on('ping', (data) => this.#heard(data));
    websocket.on('pong', (data) => this.#heard(data));
    this.#tell({ type: 'accepted' });
    if (limits.keepAlive) this.#wire.send(protocol.keepAlive);
  }

  /** Calls back when the socket is closed and everything of it has ended. */
  onClosed(closed: () => void): void {
    let fault: string | null = null;
    this.#websocket.on('error', (error) => {
      fault = error.message;
    });
    this.#websocket.on('close', () => {
      this.#end();
      this.#tell({ type: 'closed' }, fault);
      closed();
    });
  }

  beat(): void {
    // While its answers wait nothing of it is read: then it counts whether it takes them.
    this.#silentBeats = this.#wire.isFull ? 0 : this.#silentBeats + 1;
    if (this.#silentBeats >= GONE_BEATS || this.#intake.beats() > MESSAGE_BEATS) this.terminate();
    // What waits for the client already is sign enough that it does not listen.
    if (this.#isClosing || this.#wire.isFull) return;
    if (this.#silentBeats % SILENT_BEATS === 0) this.#websocket.ping();
    if (this.#limits.keepAlive) this.#wire.send(this.#protocol.keepAlive);
  }

  close(code: number, reason: string): void {
    if (this.#isClosing) return;
    this.#end();
    this.#websocket.close(code, reason);
    // Nothing the client says is of interest any more, but that it has heard.
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

  ended(operation: SocketOperation, how: 'completed' | 'failed' | 'refused', error: SvcError | null): void {
    this.#operations.delete(operation.id);
    this.#tellOperation(operation, how === 'completed' ? 'completed' : 'query_err', error);
    // After the last message of the operation.
    if (this.#goodbye !== null) setImmediate(() => this.#closeWhenDone());
  }

  #onMessage(data: RawData, isBinary: boolean): void {
    this.#silentBeats = 0;
    this.#intake.received();
    if (this.#isClosing) return;
    // With the default type of the library a message is one buffer, whatever frames it came in.
    if (this.#waiting !== null) this.#waiting.push({ data: data as Buffer, isBinary });
    else this.#receive(data as Buffer, isBinary);
  }

  #heard(data: Buffer): void {
    this.#silentBeats = 0;
    this.#intake.control(data.length);
  }

  #receive(data: Buffer, isBinary: boolean): void {
    const isTaken = (id: string): boolean => this.#operations.has(id);
    try {
      if (isBinary) throw new SvcError('invalid-json', 'expected text, but found bytes');
      const { json, depth } = decodeMeasured(data.toString('utf8'), 'the message', this.#context.options.jsonSizeLimit);
      this.#perform(this.#protocol.receive(json, isTaken), depth);
    } catch (thrown) {
      if (!(thrown instanceof SvcError)) throw thrown;
      this.#perform(this.#protocol.garbled(thrown.message), 0);
    }
  }

  /** @param depth levels of the message that brought it about */
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
          // The request lies one level below the message.
          this.#start(effect.id, effect.request, depth - 1);
          break;
        case 'stop': {
          const operation = this.#operations.get(effect.id);
          if (operation !== undefined) this.#stop(operation);
        }
      }
    }
  }

  async #authenticate(given: JsonObject, alone: boolean): Promise<void> {
    this.#waiting = [];
    this.#flow();
    // Who it was until now has an end all the same.
    if (this.#session === null) this.#stopTimer();
    let effects: readonly Effect[];
    try {
      const payload = payloadHeaders(given, this.#limits.headers);
      const headers = alone ? payload : { ...this.#handshake.kept, ...payload };
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
      if (!this.#isClosing) this.#tell({ type: 'conn_err', error: encodeLoggedError(error) });
      effects = this.#protocol.refused(error);
    }
    const came = this.#waiting ?? [];
    this.#waiting = null;
    this.#perform(effects, 0);
    this.#flow();
    for (const { data, isBinary } of came) {
      if (this.#isClosing) return;
      // One of them may ask for authentication again.
      if (this.#waiting === null) this.#receive(data, isBinary);
      else (this.#waiting as { data: Buffer; isBinary: boolean }[]).push({ data, isBinary });
    }
  }

  /** The page that made the browser connect, if one did, is known from the handshake alone. @throws SvcError access-denied */
  #checkPage(place: CredentialPlace): void {
    checkPage('GET', this.#handshake.headers, place, this.#context.pages);
  }

  /**
   * Closes the socket when its session is over, or an earlier one in which something still runs. The client connects again, and
   * says anew who it is.
   */
  #endWithSession(): void {
    this.#stopTimer();
    const end = this.#firstEnd();
    if (end === Number.POSITIVE_INFINITY) return;
    this.#stopTimer = setLongTimer(end, () => {
      // Clients take this code as a reason to connect again at once.
      if (this.#firstEnd() <= end) this.close(1000, 'the session has ended');
      else this.#endWithSession();
    });
  }

  /** Epoch milliseconds. */
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
      request = decodeRequest(payload, depth);
      if (this.#goodbye !== null) throw new SvcError('unexpected', 'the server is shutting down', { status: 503 });
      if (this.#operations.size >= this.#limits.operations) {
        throw new SvcError('busy', `the limit of ${this.#limits.operations} operations of a socket at the same time is reached`, {
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
      this.#tellOperation(operation, 'started', null);
      operation.settle({ kind: 'refused', error: refused as SvcError });
      return;
    }
    const how = {
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
    this.#tellOperation(operation, 'started', null);
    void operate(this.#context, session, request, { ...how, trace: span }, this.#lane, operation).then((outcome) => {
      if ('error' in outcome && outcome.error.status >= 500) span?.fail(outcome.error.code);
      span?.end();
      operation.settle(outcome);
      if (this.#goodbye !== null && operation.isSubscription) this.#stop(operation);
    });
  }

  /** Has the bytes of an operation counted; undefined: nobody wants to know. */
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
    this.#tellOperation(operation, 'stopped', null);
    if (this.#goodbye !== null) this.#closeWhenDone();
  }

  #closeWhenDone(): void {
    if (this.#goodbye !== null && this.#operations.size === 0) this.close(this.#goodbye.code, this.#goodbye.reason);
  }

  /** Reads from the client only while it takes what it gets, and while nothing has to be found out first. */
  #flow(): void {
    if (this.#isClosing) return;
    const { isFull } = this.#wire;
    this.#lane.hold(isFull);
    if (isFull || this.#waiting !== null) this.#websocket.pause();
    else this.#websocket.resume();
    if (!isFull) for (const operation of this.#operations.values()) operation.drained();
  }

  /** Everything of the connection stops. */
  #end(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#stopTimer();
    this.#client.cancel();
    for (const operation of this.#operations.values()) {
      operation.stop();
      this.#tellOperation(operation, 'stopped', null);
    }
    this.#operations.clear();
    // Who waits for its turn gets it, and finds out that it was stopped.
    this.#lane.hold(false);
    this.#intake.end();
    this.#wire.release();
  }

  #tellOperation(operation: SocketOperation, type: 'started' | 'completed' | 'stopped' | 'query_err', error: SvcError | null): void {
    const { queryLogging } = this.#context.options;
    const { query } = operation;
    const event: Told = {
      type: 'operation',
      operationId: operation.id,
      requestId: operation.requestId,
      operationName: operation.name,
      state: type,
      error: error === null ? null : encodeLoggedError(error),
      query: query === null ? null : queryLogging.onlyOnError && error === null ? query.name : query.whole,
    };
    this.#tell(event, null, operation.trace);
  }

  #tell(event: Told, message: string | null = null, trace?: LoggedTrace): void {
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
