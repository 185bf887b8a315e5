import type { SvcError } from '../../../errors/svc-error.ts';

/** An error of the server: the fields of an ErrorResponse message. */
export class DatabaseError extends Error {
  readonly severity: string;
  /** SQLSTATE */
  readonly code: string;
  readonly detail: string | null;
  readonly hint: string | null;
  /** Character position in the statement, counted from 1. */
  readonly position: string | null;
  readonly constraint: string | null;
  readonly schema: string | null;
  readonly table: string | null;
  readonly column: string | null;
  readonly where: string | null;
  /** Number of statements of the same text that completed before it. */
  completed = 0;

  constructor(fields: ReadonlyMap<string, string>) {
    super(fields.get('M') ?? 'unknown error');
    this.name = 'DatabaseError';
    this.severity = fields.get('V') ?? fields.get('S') ?? 'ERROR';
    this.code = fields.get('C') ?? 'XX000';
    this.detail = fields.get('D') ?? null;
    this.hint = fields.get('H') ?? null;
    this.position = fields.get('P') ?? null;
    this.constraint = fields.get('n') ?? null;
    this.schema = fields.get('s') ?? null;
    this.table = fields.get('t') ?? null;
    this.column = fields.get('c') ?? null;
    this.where = fields.get('W') ?? null;
  }
}

/** A connection could not be opened (`open`) or broke (`lost`); then it is unknown whether the statement took effect. */
export class ConnectionError extends Error {
  readonly kind: 'open' | 'lost';
  constructor(kind: 'open' | 'lost', message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'ConnectionError';
    this.kind = kind;
  }
}

/** No connection became free within the pool's timeout, or the queue is full. */
export class PoolTimeoutError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'PoolTimeoutError';
  }
}

export type CancelReason = 'abort' | 'deadline' | 'size';

const REASONS: Readonly<Record<CancelReason, string>> = {
  abort: 'the statement was cancelled',
  deadline: 'the deadline of the statement passed',
  size: 'the rows of the statement are too large',
};

/** The caller cancelled, its deadline passed, or the rows exceed its limit. */
export class CancelledError extends Error {
  readonly reason: CancelReason;
  /** Error for the client in place of one for the cancellation. */
  readonly clientError: SvcError | null;
  constructor(reason: CancelReason, clientError: SvcError | null = null) {
    super(REASONS[reason]);
    this.clientError = clientError;
    this.name = 'CancelledError';
    this.reason = reason;
  }
}

/** Reads the body of an ErrorResponse or NoticeResponse: (letter, text, 0)* 0. */
export function readErrorFields(chunk: Buffer, start: number, end: number): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  let offset = start;
  while (offset < end && chunk[offset] !== 0) {
    const letter = String.fromCharCode(chunk[offset] as number);
    const stop = chunk.indexOf(0, offset + 1);
    if (stop < 0) break;
    fields.set(letter, chunk.toString('utf8', offset + 1, stop));
    offset = stop + 1;
  }
  return fields;
}

/** Returns whether an error ends the session or prevents one. */
export function isConnectionFailure(error: unknown): boolean {
  if (error instanceof ConnectionError) return true;
  return (
    error instanceof DatabaseError &&
    (error.code.startsWith('08') || error.code === '57P01' || error.code === '57P02' || error.code === '57P03' || error.code === '57P05')
  );
}

/** Returns whether the server rolled the transaction back to end a deadlock: a retry may succeed. */
export function isDeadlock(failure: unknown): boolean {
  return failure instanceof DatabaseError && failure.code === '40P01';
}

/**
 * Returns whether the plan or name of a prepared statement is no longer valid, so it has to be prepared again. PostgreSQL reports a plan with
 * another result type under the code of all unsupported features, so the message decides.
 */
export function isStalePlan(error: DatabaseError): boolean {
  return error.code === '26000' || (error.code === '0A000' && error.message.includes('cached plan'));
}
