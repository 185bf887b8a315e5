/** Locks that a migration holds until its transaction ends, as found by a trial run. */
import { isJsonArray, type Json } from '../util/json.ts';

export interface HeldLock {
  /** `schema.name` */
  readonly table: string;
  /** Name of the lock mode in the manual of the database, in lower case: `access exclusive`. */
  readonly mode: string;
  /** Operations on rows that it blocks: `reads and writes`, `writes` or empty. */
  readonly blocks: string;
  /** True if the migration rewrites the whole table. */
  readonly rewritten: boolean;
}

/** @param probed rows of `RollbackDialect.probe` */
function heldIn(probed: Json | undefined): readonly HeldLock[] {
  const rows = (isJsonArray(probed) ? probed : []).filter(isJsonArray);
  return rows.map((row) => ({ table: String(row[0]), mode: String(row[1]), blocks: String(row[2]), rewritten: row[3] === 't' }));
}

/**
 * Returns the tables that a migration has locked or rewritten.
 * @param before rows of the probe after the previous migration in the same transaction
 */
export function locksIn(probed: Json | undefined, before: Json | undefined): readonly HeldLock[] {
  const known = new Map(heldIn(before).map((lock) => [lock.table, lock]));
  return heldIn(probed).filter(({ table, mode, rewritten }) => {
    const earlier = known.get(table);
    return earlier === undefined || earlier.mode !== mode || (rewritten && !earlier.rewritten);
  });
}

/** Returns lines about the operations that the locks block and the tables that are rewritten. */
export function blockingLines(locks: readonly HeldLock[]): readonly string[] {
  const tablesOf = (some: readonly HeldLock[]): string => some.map(({ table }) => table).join(', ');
  const lines = ['reads and writes', 'writes'].flatMap((blocks) => {
    const blocking = locks.filter((lock) => lock.blocks === blocks);
    const modes = [...new Set(blocking.map(({ mode }) => mode))];
    return modes.map((mode) => `blocks ${blocks} of ${tablesOf(blocking.filter((lock) => lock.mode === mode))} (${mode} lock)`);
  });
  const rewritten = locks.filter((lock) => lock.rewritten);
  return rewritten.length === 0 ? lines : [...lines, `rewrites all rows of ${tablesOf(rewritten)}`];
}
