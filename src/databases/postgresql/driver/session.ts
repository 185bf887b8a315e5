/**
 * A connection to a PostgreSQL server after its start-up. Several statements may be in flight (pipelining), and are answered in order. All
 * statements of one turn of the event loop are sent in one write. Values of JSON rows are passed on as bytes, without decoding.
 *
 * Pools and retries are the concern of the owner, which is notified of each finished exchange.
 */
import type { Socket } from 'node:net';
import { type CancelReason, CancelledError, ConnectionError, DatabaseError, isStalePlan, readErrorFields } from './database-error.ts';
import type { WireExchange, WireStep, TextResult } from './exchange.ts';
import { readFrom } from './shared-buffer-socket.ts';
import { OutputBuffer } from './output-buffer.ts';
import { PreparedStatements } from './prepared-statements.ts';
import { VALUE_OVERHEAD } from '../../shared/result-size.ts';
import { type Bytes, bytesOfBuffer, textOfBytes } from '../../../util/bytes.ts';
import type { Cancellation } from '../../../util/cancellation.ts';
import type { JsonRow } from '../../../backend/connection.ts';

const PREPARED_LIMIT = 512;
/** Timeout for the server's answer to a cancelled statement, after which the connection is closed. */
const CANCEL_GRACE_MS = 5_000;
/** Interval after which a cancel request is repeated: one that reaches the server before its statement has no effect. */
const CANCEL_AGAIN_MS = 500;
const END_GRACE_MS = 1_000;
const NO_VALUE: readonly Bytes[] = [];
const NO_ROW: JsonRow = [];

export interface SessionOptions {
  /** True if statements are prepared: false if a pooler may assign each transaction another server connection. */
  readonly prepare: boolean;
  /** Estimated memory of prepared statements in the server, in bytes. */
  readonly preparedMemory: number;
  /**
   * Sends a cancel request on another socket. Calls back when the server has handled it, or after a timeout: the server may then still
   * handle it.
   */
  readonly cancel: (done: (isHandled: boolean) => void) => void;
  /** Tries to end the session in the server from another one: SQL may catch the error of a cancel request. */
  readonly terminate: () => void;
}

export interface SessionOwner {
  /** Called after an exchange or a cancel request has finished. */
  ready(session: DriverSession): void;
  /** Called when an exchange is settled, with or without a failure. */
  settled(exchange: WireExchange): void;
  /** Called when the connection is lost. Its exchanges are settled. */
  lost(session: DriverSession, reason: ConnectionError): void;
}

export class DriverSession {
  readonly prepare: boolean;
  readonly openedAt = Date.now();
  owner: SessionOwner | null = null;
  /** Current use by the owner. */
  use: 'idle' | 'reader' | 'alone' | 'acquired' = 'acquired';
  /** Role that uses it exclusively. */
  role = '';
  /** Gets no new statements, because it is needed for exclusive use or too old. */
  draining = false;
  /** Must not be reused: its settings may have changed, or a cancel request may still reach it. */
  tainted = false;
  idleSince = 0;
  /** Time at which the server started the exchange at the head, by `performance.now()`. */
  headSince = 0;
  /** Sum of the expected durations of the exchanges in flight, in milliseconds. */
  expected = 0;
  /** `I` idle, `T` in a transaction, `E` in a failed one. */
  status: 'I' | 'T' | 'E' = 'I';
  /** Number of cancel requests that the server has not handled: they may cancel any statement. */
  cancelsOpen = 0;
  #lastCancelAt = Number.NEGATIVE_INFINITY;

  readonly #socket: Socket;
  readonly #options: SessionOptions;
  readonly #output = new OutputBuffer();
  readonly #prepared: PreparedStatements;
  #queue: (WireExchange | undefined)[] = [];
  #head = 0;
  #flushing = false;
  #closed: ConnectionError | null = null;
  #ended = false;
  #fatal: DatabaseError | null = null;

  // Parser state: bytes of an unfinished message, and the position inside of a DataRow.
  #pending: Buffer | null = null;
  #columnsLeft = 0;
  #valueLeft = 0;
  /** True if the value exceeds the limits of the exchange. */
  #isValueDropped = false;
  #value: Bytes[] = [];

  readonly #flushNow = (): void => this.#flush();

  constructor(socket: Socket, options: SessionOptions) {
    this.#socket = socket;
    this.#options = options;
    this.prepare = options.prepare;
    this.#prepared = new PreparedStatements(PREPARED_LIMIT, options.preparedMemory);
    readFrom(socket, (chunk) => this.#feed(chunk));
    socket.on('error', (error) => this.#lose(new ConnectionError('lost', error.message, error)));
    socket.on('close', () =>
      this.#lose(
        new ConnectionError('lost', this.#fatal?.message ?? 'server closed the connection unexpectedly', this.#fatal ?? undefined),
      ),
    );
  }

  get inFlight(): number {
    return this.#queue.length - this.#head;
  }

  /** True if statements of this turn of the event loop wait to be written: one more costs no further write. */
  get isWriting(): boolean {
    return this.#flushing;
  }

  get isClosed(): boolean {
    return this.#closed !== null || this.#ended;
  }

  /** Sends an exchange after those in flight. */
  send(exchange: WireExchange): void {
    if (this.#closed !== null || this.#ended) {
      exchange.failure = this.#closed ?? new ConnectionError('lost', 'the connection is closed');
      this.#settle(exchange);
      return;
    }
    if (this.#queue.length === this.#head) this.headSince = performance.now();
    this.#queue.push(exchange);
    this.expected += exchange.expected;
    const output = this.#output;
    if (exchange.mode === 'simple') {
      output.query((exchange.steps[0] as WireStep).text);
    } else {
      const describe = exchange.mode === 'text';
      for (const step of exchange.steps) this.#write(step, describe, exchange);
      output.sync();
    }
    if (!this.#flushing) {
      this.#flushing = true;
      setImmediate(this.#flushNow);
    }
  }

  /** Closes the connection after all exchanges in flight, without notifying the owner. */
  end(): void {
    if (this.isClosed) return;
    this.#ended = true;
    this.#output.terminate();
    this.#flush();
    this.#socket.end();
    setTimeout(() => this.#socket.destroy(), END_GRACE_MS).unref();
  }

  destroy(reason: ConnectionError): void {
    this.#lose(reason);
    this.#socket.destroy();
  }

  /** Cancels exchanges that were aborted or whose deadline passed. @returns whether it has to be called again */
  sweep(now: number): boolean {
    let watched = false;
    for (let i = this.#head; i < this.#queue.length; i++) {
      const exchange = this.#queue[i] as WireExchange;
      if (exchange.cancelled !== null) {
        watched = true;
        // An exchange that the server has not started waits for earlier ones that are not cancelled.
        if (i > this.#head) continue;
        if (now - exchange.cancelledAt > CANCEL_GRACE_MS) {
          this.#options.terminate();
          this.destroy(new ConnectionError('lost', 'the server did not answer a cancel request'));
          return false;
        }
        const hadNoEffect = exchange.cancelSent && this.cancelsOpen === 0 && performance.now() - this.#lastCancelAt > CANCEL_AGAIN_MS;
        if (hadNoEffect) {
          exchange.cancelSent = false;
          this.#cancelHead();
        }
      } else if (exchange.signal !== undefined || exchange.deadline !== Number.POSITIVE_INFINITY) {
        watched = true;
        const reason = cancelReason(exchange, now);
        if (reason !== null) this.#cancel(exchange, reason, now);
      }
    }
    return watched;
  }

  #cancel(exchange: WireExchange, reason: CancelReason, now: number): void {
    exchange.cancelled = reason === 'size' && exchange.refused !== null ? exchange.refused : new CancelledError(reason);
    exchange.cancelledAt = now;
    if (this.#queue[this.#head] === exchange) exchange.ran = performance.now() - this.headSince;
    if (exchange.releasesEarly) {
      exchange.failure = exchange.cancelled;
      this.#settle(exchange);
      if (this.#queue[this.#head] === exchange) this.#dropValues(exchange);
    }
    this.#cancelHead();
  }

  /** Sends a cancel request for the exchange at the head: it cancels whatever the connection executes. */
  #cancelHead(): void {
    const exchange = this.#queue[this.#head];
    if (exchange === undefined || exchange.cancelled === null || exchange.cancelSent) return;
    exchange.cancelSent = true;
    this.cancelsOpen++;
    this.#lastCancelAt = performance.now();
    this.#options.cancel((isHandled) => {
      this.cancelsOpen--;
      if (!isHandled) {
        // It could cancel a statement of another request.
        this.draining = true;
        this.tainted = true;
      }
      if (this.#closed === null) this.owner?.ready(this);
    });
  }

  #write(step: WireStep, describe: boolean, exchange: WireExchange): void {
    const output = this.#output;
    let name = '';
    if (this.prepare && step.once !== true) {
      const known = this.#prepared.name(step.text);
      if (known === undefined && !this.#prepared.takes(step.text)) output.parse('', step.text);
      else if (known === undefined) {
        name = this.#prepared.prepare(step.text, output);
        exchange.parsing ??= [];
        exchange.parsing.push(name);
      } else name = known;
    } else output.parse('', step.text);
    output.bind(name, step.values);
    if (describe) output.describe();
    output.execute();
  }

  #flush(): void {
    this.#flushing = false;
    if (this.#closed !== null || this.#output.isEmpty) return;
    const parts = this.#output.take();
    if (parts.length === 1) {
      this.#socket.write(parts[0] as Buffer);
      return;
    }
    this.#socket.cork();
    for (const part of parts) this.#socket.write(part);
    this.#socket.uncork();
  }

  #feed(arrived: Buffer): void {
    let chunk = arrived;
    if (this.#pending !== null) {
      chunk = Buffer.concat([this.#pending, arrived]);
      this.#pending = null;
    }
    const end = chunk.length;
    let offset = 0;
    for (;;) {
      if (this.#columnsLeft > 0) {
        if (this.#valueLeft > 0) {
          const taken = Math.min(this.#valueLeft, end - offset);
          if (taken === 0) return;
          if (!this.#isValueDropped) this.#value.push(bytesOfBuffer(chunk, offset, offset + taken));
          offset += taken;
          this.#valueLeft -= taken;
          if (this.#valueLeft > 0) return;
          if (--this.#columnsLeft === 0) this.#endRow();
          continue;
        }
        if (end - offset < 4) break;
        const length = chunk.readInt32BE(offset);
        offset += 4;
        const exchange = this.#queue[this.#head] as WireExchange;
        const row = exchange.row as (readonly Bytes[] | null)[];
        if (exchange.mode !== 'json' || exchange.resultBudget !== null) this.#weigh(exchange, length);
        if (length > 0) {
          this.#value = [];
          this.#valueLeft = length;
          row.push(this.#value);
          continue;
        }
        row.push(length < 0 ? null : NO_VALUE);
        if (--this.#columnsLeft === 0) this.#endRow();
        continue;
      }
      if (end - offset < 5) break;
      const type = chunk[offset] as number;
      if (type === 0x44) {
        if (end - offset < 7) break;
        const exchange = this.#queue[this.#head];
        if (exchange === undefined) {
          this.destroy(new ConnectionError('lost', 'the server sent an unexpected row'));
          return;
        }
        exchange.row = [];
        this.#columnsLeft = chunk.readInt16BE(offset + 5);
        offset += 7;
        if (this.#columnsLeft === 0) this.#endRow();
        continue;
      }
      const next = offset + 1 + chunk.readInt32BE(offset + 1);
      if (next > end) break;
      this.#message(type, chunk, offset + 5, next);
      offset = next;
    }
    // A copy, because the buffer is reused.
    if (offset < end) this.#pending = Buffer.from(chunk.subarray(offset));
  }

  /** Drops received values of the exchange at the head. */
  #dropValues(exchange: WireExchange): void {
    this.#isValueDropped = true;
    this.#value = [];
    if (exchange.row !== null) exchange.row = [];
  }

  /** Counts a value before it is received. */
  #weigh(exchange: WireExchange, length: number): void {
    const { resultBudget } = exchange;
    // Values after a cancellation are not needed.
    if (exchange.settled) {
      this.#isValueDropped = true;
      return;
    }
    if ((exchange.text?.rows.length ?? 0) < exchange.maxRows) {
      const bytes = Math.max(0, length) + (exchange.mode === 'json' ? 0 : VALUE_OVERHEAD);
      if (resultBudget !== null && exchange.refused === null && !resultBudget.take(bytes)) {
        exchange.refused = new CancelledError('size', resultBudget.refusal(exchange.continues));
      }
      if (exchange.refused === null) exchange.bytes += bytes;
    }
    this.#isValueDropped = exchange.settled || exchange.refused !== null || exchange.bytes > exchange.maxBytes;
    if (this.#isValueDropped && exchange.cancelled === null && !exchange.continues) this.#cancel(exchange, 'size', Date.now());
  }

  #endRow(): void {
    const exchange = this.#queue[this.#head] as WireExchange;
    if (exchange.mode === 'json') {
      if (exchange.collected !== null && !exchange.settled && exchange.position === exchange.steps.length - 1)
        exchange.collected.push(exchange.row ?? NO_ROW);
      return;
    }
    exchange.text ??= { columns: null, rows: [], command: '' };
    if (exchange.text.rows.length < exchange.maxRows && !this.#isValueDropped) exchange.text.rows.push((exchange.row ?? []).map(textOf));
    else exchange.text.isCut = true;
    exchange.row = null;
  }

  #message(type: number, chunk: Buffer, start: number, end: number): void {
    const exchange = this.#queue[this.#head];
    switch (type) {
      case 0x5a: // ReadyForQuery
        this.status = chunk[start] === 0x49 ? 'I' : chunk[start] === 0x54 ? 'T' : 'E';
        if (exchange !== undefined) this.#finish(exchange);
        return;
      case 0x43: // CommandComplete
      case 0x49: // EmptyQueryResponse
        if (exchange === undefined) return;
        if (exchange.mode === 'json') {
          exchange.rows.push(exchange.row ?? NO_ROW);
          exchange.row = null;
        } else endStep(exchange, type === 0x43 ? chunk.toString('latin1', start, end - 1) : '');
        return;
      case 0x31: // ParseComplete
        if (exchange?.parsing != null) exchange.parsing.shift();
        return;
      case 0x45: // ErrorResponse
        this.#fail(new DatabaseError(readErrorFields(chunk, start, end)), exchange);
        return;
      case 0x54: // RowDescription
        if (exchange !== undefined) exchange.text = { columns: columnNames(chunk, start), rows: [], command: '' };
        return;
      case 0x47: // CopyInResponse: the service has no data to copy
        this.#output.copyFail('COPY from the client is not supported');
        this.#flush();
        return;
      default: // BindComplete, CloseComplete, NoData, ParameterStatus, notices, notifications, COPY data
    }
  }

  #fail(error: DatabaseError, exchange: WireExchange | undefined): void {
    if (error.severity === 'FATAL' || error.severity === 'PANIC') this.#fatal = error;
    if (exchange === undefined || exchange.failure !== null) return;
    exchange.failure = error;
    error.completed = exchange.completed;
    exchange.accident =
      error.code === '57014' && exchange.cancelled === null && (this.cancelsOpen > 0 || performance.now() - this.#lastCancelAt < 1_000);
    if (exchange.cancelled !== null && error.code === '57014') exchange.failure = exchange.cancelled;
  }

  #finish(exchange: WireExchange): void {
    this.#queue[this.#head++] = undefined;
    this.expected -= exchange.expected;
    if (this.#head === this.#queue.length) {
      this.#queue.length = 0;
      this.#head = 0;
      this.expected = 0;
    } else if (this.#head > 1_024) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
    const now = performance.now();
    exchange.duration = now - this.headSince;
    this.headSince = now;
    this.#isValueDropped = false;
    // The statement completed although its values were refused.
    exchange.failure ??= exchange.refused;
    const failure = exchange.failure;
    if (failure !== null) {
      if (exchange.parsing !== null && exchange.parsing.length > 0) this.#prepared.forget(exchange.parsing);
      if (failure instanceof DatabaseError && isStalePlan(failure)) {
        for (const step of exchange.steps) this.#prepared.replace(step.text, this.#output);
      }
    }
    const next = this.#queue[this.#head];
    if (next !== undefined && next.cancelled !== null) {
      next.cancelledAt = Date.now();
      this.#cancelHead();
    }
    this.#settle(exchange);
    this.owner?.ready(this);
  }

  #settle(exchange: WireExchange): void {
    if (exchange.settled) return;
    exchange.settled = true;
    this.owner?.settled(exchange);
    exchange.settle(exchange);
  }

  #lose(reason: ConnectionError): void {
    if (this.#closed !== null) return;
    this.#closed = reason;
    this.#pending = null;
    const lost = this.#queue.slice(this.#head) as WireExchange[];
    this.#queue = [];
    this.#head = 0;
    const owner = this.owner;
    if (!this.#ended) owner?.lost(this, reason);
    for (const exchange of lost) {
      // The error that ended the session is more specific than the lost connection.
      exchange.failure ??= exchange.cancelled ?? reason;
      this.#settle(exchange);
    }
  }
}

/** Returns why an exchange is to be cancelled; `null` if it is not. */
export function cancelReason(
  exchange: { readonly signal: Cancellation | undefined; readonly deadline: number },
  now: number,
): 'abort' | 'deadline' | null {
  if (exchange.signal?.aborted === true) return 'abort';
  return now >= exchange.deadline ? 'deadline' : null;
}

function textOf(value: readonly Bytes[] | null): string | null {
  return value === null ? null : textOfBytes(value);
}

function endStep(exchange: WireExchange, command: string): void {
  const result: TextResult = exchange.text ?? { columns: null, rows: [], command };
  result.command = command;
  exchange.text = null;
  exchange.completed += 1;
  if (exchange.mode === 'simple') exchange.results.length = 0; // only the last one counts
  exchange.results.push(result);
}

function columnNames(chunk: Buffer, start: number): readonly string[] {
  const names: string[] = [];
  let offset = start + 2;
  for (let left = chunk.readInt16BE(start); left > 0; left--) {
    const stop = chunk.indexOf(0, offset);
    names.push(chunk.toString('utf8', offset, stop));
    offset = stop + 1 + 18; // table, column, type, size, modifier, format
  }
  return names;
}
