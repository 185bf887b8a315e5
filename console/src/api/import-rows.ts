/** Inserts many rows through GraphQL, in batches, and finds the rows that the service rejects. */
import type { GraphqlNames } from '../model/graphql-names.ts';
import { type JsonObject, printJson } from '../model/json.ts';
import type { Persona } from '../model/persona.ts';
import { failureOf, type Failure } from './failure.ts';
import { insertRows } from './rows.ts';

/** Maximum size of one request, in rows and in characters of JSON. */
const BATCH = { rows: 500, size: 1_000_000 };
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
  /** `limit` after too many rejected rows, `stopped` by the user, `failed` if the service does not accept the request. */
  readonly end: 'done' | 'limit' | 'stopped' | 'failed';
  readonly failure?: Failure;
}

interface ImportOptions {
  readonly as: Persona;
  readonly names: GraphqlNames;
  readonly rows: readonly ImportRow[];
  /** Returns true after the user has stopped the import, which ends after the current request. */
  isStopped(): boolean;
  onProgress(state: ImportState): void;
}

/** Returns the index of the rejected row; null if the error is about the rows but does not say which, undefined for other errors. */
function rejectedIndex({ path }: Failure): number | null | undefined {
  const found = /\.args\.objects(?:\[(\d+)\])?/.exec(path ?? '');
  return found === null ? undefined : found[1] === undefined ? null : Number(found[1]);
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
export async function importValid({ as, names, rows, isStopped, onProgress }: ImportOptions): Promise<ImportResult> {
  const rejected: Rejected[] = [];
  let inserted = 0;
  let handled = 0;
  const state = (): ImportState => ({ inserted, handled, rejected: [...rejected] });
  const waiting = batchesOf(rows).map((batch) => [...batch]);
  for (let batch = waiting.shift(); batch !== undefined; batch = waiting.shift()) {
    if (isStopped()) return { ...state(), end: 'stopped' };
    if (rejected.length >= MAX_REJECTED) return { ...state(), end: 'limit' };
    try {
      inserted += await insertRows(as, names, objectsOf(batch));
      handled += batch.length;
    } catch (error) {
      const failure = failureOf(error);
      const named = rejectedIndex(failure);
      const index = named === null && batch.length === 1 ? 0 : named;
      if (index === undefined) return { ...state(), end: 'failed', failure };
      if (index === null) {
        const middle = batch.length >> 1;
        waiting.unshift(batch.slice(0, middle), batch.slice(middle));
      } else {
        rejected.push({ row: batch[index]?.row, reason: failure.message });
        handled++;
        const rest = batch.toSpliced(index, 1);
        if (rest.length > 0) waiting.unshift(rest);
      }
    }
    onProgress(state());
  }
  return { ...state(), end: 'done' };
}

/** Returns the number of characters of the request of `importAll`. */
export function atomicSize(rows: readonly ImportRow[]): number {
  return rows.reduce((size, { object }) => size + printJson(object).length + 1, 0);
}

/**
 * Inserts all rows in one transaction or none. After a rejection it sends all rows again, with the rejected ones in statements of their
 * own at the end: once the first of these fails, the database accepts all other rows, and every rejected row is known.
 */
export async function importAll({ as, names, rows, isStopped, onProgress }: ImportOptions): Promise<ImportResult> {
  const rejected: Rejected[] = [];
  const singles: ImportRow[] = [];
  const state = (): ImportState => ({ inserted: 0, handled: 0, rejected: [...rejected] });
  let rest = [...rows];
  while (!isStopped()) {
    try {
      const inserted = await insertRows(as, names, objectsOf(rest), objectsOf(singles));
      return { inserted, handled: rows.length, rejected: [], end: 'done' };
    } catch (error) {
      const failure = failureOf(error);
      const index = rejectedIndex(failure);
      const found = index === null || index === undefined ? undefined : rest[index];
      if (found === undefined && singles.length > 0) return { ...state(), end: 'done' };
      if (index === undefined) return { ...state(), end: 'failed', failure };
      if (found === undefined) {
        const row = rows.length === 1 ? rows[0]?.row : undefined;
        return { ...state(), rejected: [{ row, reason: failure.message }], end: 'done' };
      }
      rejected.push({ row: found.row, reason: failure.message });
      if (rejected.length >= MAX_REJECTED || rest.length === 1) return { ...state(), end: rest.length === 1 ? 'done' : 'limit' };
      singles.push(found);
      rest = rest.filter((each) => each !== found);
      onProgress(state());
    }
  }
  return { ...state(), end: 'stopped' };
}

function objectsOf(rows: readonly ImportRow[]): readonly JsonObject[] {
  return rows.map(({ object }) => object);
}
