/** Locks that a migration holds until its transaction ends, as the trial of a plan finds them. */
import { isJsonArray, type Json } from '../util/json.ts';

export interface HeldLock {
  /** `schema.name` */
  readonly table: string;
  /** Its name in the manual of the database, in lower case: `access exclusive`. */
  readonly mode: string;
  /** Operations on rows that wait for it: `reads and writes`, `writes`; empty if none waits. */
  readonly blocks: string;
  /** Whether all rows of the table are written anew. */
  readonly rewritten: boolean;
}

/** @param probed rows of `RollbackDialect.probe` */
function heldIn(probed: Json | undefined): readonly HeldLock[] {
  const rows = (isJsonArray(probed) ? probed : []).filter(isJsonArray);
  return rows.map((row) => ({ table: String(row[0]), mode: String(row[1]), blocks: String(row[2]), rewritten: row[3] === 't' }));
}

/**
 * Returns the tables that a migration has locked or written anew.
 * @param before rows of the probe after the migration before it, in the same transaction
 */
export function locksIn(probed: Json | undefined, before: Json | undefined): readonly HeldLock[] {
  const known = new Map(heldIn(before).map((lock) => [lock.table, lock]));
  return heldIn(probed).filter(({ table, mode, rewritten }) => {
    const earlier = known.get(table);
    return earlier === undefined || earlier.mode !== mode || (rewritten && !earlier.rewritten);
  });
}

/** Returns lines about locks that operations wait for. */
export function whoWaits(locks: readonly HeldLock[]): readonly string[] {
  const named = (told: readonly HeldLock[]): string => told.map(({ table }) => table).join(', ');
  const lines = ['reads and writes', 'writes'].flatMap((blocks) => {
    const blocking = locks.filter((lock) => lock.blocks === blocks);
    const modes = [...new Set(blocking.map(({ mode }) => mode))];
    return modes.map((mode) => `${blocks} of ${named(blocking.filter((lock) => lock.mode === mode))} wait meanwhile (${mode})`);
  });
  const rewritten = locks.filter((lock) => lock.rewritten);
  return rewritten.length === 0 ? lines : [...lines, `all rows of ${named(rewritten)} are written anew`];
}
