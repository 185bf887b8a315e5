/** Inserts many rows, in batches, and finds the rows that the service rejects. */
import type { RowProblem } from '../model/import-plan.ts';
import { isObject, type JsonObject, printJson } from '../model/json.ts';
import { failureOf, type Failure } from './failure.ts';

/** Maximum size of one request, in rows and in characters of JSON. */
export const BATCH = { rows: 500, size: 1_000_000 };
/** Maximum size of an import that is one request, in characters of JSON. */
export const MAX_ATOMIC_SIZE = 8_000_000;
/** Maximum number of rejected rows, because each takes a request. */
const MAX_REJECTED = 200;

export interface ImportRow {
  /** Index of the row in the import. */
  readonly row: number;
  readonly object: JsonObject;
}

export interface Rejected {
  /** Undefined if the service does not say which row it rejects. */
  readonly row: number | undefined;
  readonly reason: string;
}

export interface ImportState {
  readonly inserted: number;
  /** Number of rows that were inserted or rejected. */
  readonly handled: number;
  readonly rejected: readonly Rejected[];
}

export interface ImportResult extends ImportState {
  /**
   * `limit` after too many rejected rows, `stopped` by the user, `failed` if the service does not accept the request, `unknown` if it is
   * not known whether the rows of the last request were inserted.
   */
  readonly end: 'done' | 'limit' | 'stopped' | 'failed' | 'unknown';
  readonly failure?: Failure;
  /** Rows that may have been inserted. */
  readonly uncertain: readonly number[];
  /** Rows that were neither rejected nor inserted when the import ended early. */
  readonly unsent: readonly Rejected[];
}

export interface ImportOptions {
  readonly rows: readonly ImportRow[];
  /** Inserts rows like `insertRows`. @throws Failure */
  insert(objects: readonly JsonObject[], singles?: readonly JsonObject[]): Promise<number>;
  /** Returns true after the user has stopped the import, which ends after the current request. */
  isStopped(): boolean;
  onProgress(state: ImportState): void;
}

/** Codes of errors in the data of rows, or for a constraint or the check of a permission that rows violate. */
const ROW_CODES = new Set(['constraint-violation', 'data-exception', 'permission-error', 'validation-failed', 'parse-failed']);
/** States of errors that triggers raise. Only administrators see them. */
const RAISED = new Set(['P0001', '45000']);

/** Statement of an error about the rows of its request. */
type Refusal =
  /** One row is wrong: its index in the list, or a single one. */
  | { readonly kind: 'row'; readonly index: number }
  | { readonly kind: 'single' }
  /** Some row is wrong, but the service does not say which. */
  | { readonly kind: 'rows' }
  /** No row was inserted, for a reason that is not in the rows. */
  | { readonly kind: 'request' }
  /** The rows may have been inserted. */
  | { readonly kind: 'unknown' };

function refusalOf(failure: Failure): Refusal {
  if (isUncertain(failure)) return { kind: 'unknown' };
  const { path = '', code } = failure;
  const found = /\.args\.objects(?:\[(\d+)\])?/.exec(path);
  if (found?.[1] !== undefined) return { kind: 'row', index: Number(found[1]) };
  if (!ROW_CODES.has(code) && !isRaised(failure)) return { kind: 'request' };
  if (found !== null) return { kind: 'rows' };
  return { kind: /\.args\.object\b/.test(path) ? 'single' : 'request' };
}

/** Returns true if the answer was lost, or if the database does not know whether it has committed. */
function isUncertain({ code, status, message }: Failure): boolean {
  // These errors have the codes of others, and answers of the service have nothing else that tells them apart.
  if (code === 'unreachable' || message === 'connection error' || message.includes('may be committed or not')) return true;
  // Answers that are not of the service, for example those of a proxy.
  return code.startsWith('http-') && (status < 400 || status >= 500);
}

function isRaised({ internal }: Failure): boolean {
  const error = isObject(internal) ? internal['error'] : undefined;
  const state = isObject(error) ? error['status_code'] : undefined;
  return typeof state === 'string' && RAISED.has(state);
}

function batchesOf(rows: readonly ImportRow[]): readonly (readonly ImportRow[])[] {
  const batches: ImportRow[][] = [];
  let size = Number.POSITIVE_INFINITY;
  for (const row of rows) {
    const length = printJson(row.object).length;
    const last = batches.at(-1);
    if (last === undefined || last.length >= BATCH.rows || size + length > BATCH.size) {
      batches.push([row]);
      size = length;
    } else {
      last.push(row);
      size += length;
    }
  }
  return batches;
}

/** Inserts the rows that the service accepts. A batch with rejected rows is sent again without them. */
export async function importValid({ rows, insert, isStopped, onProgress }: ImportOptions): Promise<ImportResult> {
  const rejected: Rejected[] = [];
  let inserted = 0;
  let handled = 0;
  const state = (): ImportState => ({ inserted, handled, rejected: [...rejected] });
  const waiting = batchesOf(rows).map((batch) => [...batch]);
  const ended = (end: ImportResult['end'], more: Partial<ImportResult> = {}): ImportResult => ({
    ...{ ...state(), end, uncertain: [] },
    ...more,
    unsent: [...(more.unsent ?? []), ...waiting.flatMap((batch) => withReason(batch, 'not sent'))],
  });
  while (waiting.length > 0) {
    if (isStopped()) return ended('stopped');
    if (rejected.length >= MAX_REJECTED) return ended('limit');
    const batch = waiting.shift() ?? [];
    try {
      inserted += await insert(objectsOf(batch));
      handled += batch.length;
    } catch (error) {
      const failure = failureOf(error);
      const refusal = refusalOf(failure);
      const index = refusal.kind === 'row' ? refusal.index : refusal.kind === 'rows' && batch.length === 1 ? 0 : undefined;
      const wrong = index === undefined ? undefined : batch[index];
      if (refusal.kind === 'unknown') return ended('unknown', { failure, uncertain: batch.map(({ row }) => row) });
      if (wrong !== undefined) {
        rejected.push({ row: wrong.row, reason: failure.message });
        handled++;
        const rest = batch.filter((each) => each !== wrong);
        if (rest.length > 0) waiting.unshift(rest);
      } else if (refusal.kind === 'rows') {
        const middle = batch.length >> 1;
        waiting.unshift(batch.slice(0, middle), batch.slice(middle));
      } else return ended('failed', { failure, unsent: withReason(batch, 'the service did not accept the request') });
    }
    onProgress(state());
  }
  return ended('done');
}

/** Returns the number of characters of the request of `importAll`. */
export function atomicSize(rows: readonly ImportRow[]): number {
  return rows.reduce((size, { object }) => size + printJson(object).length + 1, 0);
}

/**
 * Inserts all rows in one transaction or none. After a rejection it sends all rows again, with the rejected ones in statements of their
 * own at the end: once the first of these fails, the database accepts all other rows, and every rejected row is known.
 */
export async function importAll({ rows, insert, isStopped, onProgress }: ImportOptions): Promise<ImportResult> {
  const rejected: Rejected[] = [];
  const singles: ImportRow[] = [];
  const state = (): ImportState => ({ inserted: 0, handled: 0, rejected: [...rejected] });
  let rest = [...rows];
  const ended = (end: ImportResult['end'], more: Partial<ImportResult> = {}): ImportResult => ({
    ...{ ...state(), end, uncertain: [] },
    unsent: end === 'done' || end === 'unknown' ? [] : withReason(rest, 'not inserted, as no row was'),
    ...more,
  });
  while (!isStopped()) {
    try {
      const inserted = await insert(objectsOf(rest), objectsOf(singles));
      return ended('done', { inserted, handled: rows.length, rejected: [] });
    } catch (error) {
      const failure = failureOf(error);
      const refusal = refusalOf(failure);
      if (refusal.kind === 'unknown') return ended('unknown', { failure, rejected: [], uncertain: rows.map(({ row }) => row) });
      if (refusal.kind === 'single' && singles.length > 0) return ended('done');
      const found = refusal.kind === 'row' ? rest[refusal.index] : refusal.kind === 'rows' && rest.length === 1 ? rest[0] : undefined;
      if (found === undefined) {
        if (refusal.kind !== 'rows') return ended('failed', { failure });
        rejected.push({ row: undefined, reason: failure.message });
        return ended('done');
      }
      rejected.push({ row: found.row, reason: failure.message });
      singles.push(found);
      rest = rest.filter((each) => each !== found);
      if (rest.length === 0) return ended('done');
      if (rejected.length >= MAX_REJECTED) return ended('limit');
      onProgress(state());
    }
  }
  return ended('stopped');
}

function withReason(rows: readonly ImportRow[], reason: string): readonly Rejected[] {
  return rows.map(({ row }) => ({ row, reason }));
}

function objectsOf(rows: readonly ImportRow[]): readonly JsonObject[] {
  return rows.map(({ object }) => object);
}

/** Rows with the same reason: one, or several that follow each other. */
export interface LeftRows {
  /** Undefined if the row is not known. */
  readonly first: number | undefined;
  /** Index of the last row; that of the first one if there is only one. */
  readonly last: number | undefined;
  readonly reason: string;
}

/** Returns the rows that were not inserted, with their reasons, in the order of the import. Rows that were not sent are joined. */
export function leftRows(problems: readonly RowProblem[], { rejected, unsent }: ImportResult): readonly LeftRows[] {
  const reasons = new Map<number, string[]>();
  for (const { row, column, reason } of problems) {
    reasons.set(row, [...(reasons.get(row) ?? []), column === undefined ? reason : `${column}: ${reason}`]);
  }
  const local: readonly Rejected[] = [...reasons].map(([row, found]) => ({ row, reason: found.join('; ') }));
  const joinable = new Set(unsent);
  const left: LeftRows[] = [];
  let previous: Rejected | undefined;
  for (const each of [...local, ...rejected, ...unsent].toSorted((a, b) => (a.row ?? -1) - (b.row ?? -1))) {
    const { row, reason } = each;
    const before = left.at(-1);
    const joins = previous !== undefined && joinable.has(previous) && joinable.has(each) && previous.reason === reason;
    if (joins && before !== undefined && row !== undefined && before.last === row - 1) left[left.length - 1] = { ...before, last: row };
    else left.push({ first: row, last: row, reason });
    previous = each;
  }
  return left;
}

/** Returns the number of rows. */
export function countLeft(left: readonly LeftRows[]): number {
  return left.reduce((count, { first = 0, last = 0 }) => count + last - first + 1, 0);
}
