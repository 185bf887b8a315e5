/** What a migration that is tried in PostgreSQL holds until its transaction ends: who has to wait for it, and which tables it writes anew. */
import { isJsonArray, type Json } from '../../util/json.ts';

export interface HeldLock {
  /** `schema.name` */
  readonly table: string;
  /** As PostgreSQL's manual calls it, in lower case: `access exclusive`. */
  readonly mode: string;
  /** All of its rows are written anew. */
  readonly rewritten: boolean;
}

const OTHERS = `n.nspname !~ '^pg_' and n.nspname not in ('information_schema', 'svc_catalog')`;

/** Keeps, for the transaction, which relations there are and which files they have. */
export const REMEMBER_FILES = `select pg_catalog.set_config('svc.plan_files', coalesce((select pg_catalog.json_object_agg(c.oid, coalesce(pg_catalog.pg_relation_filenode(c.oid), 0::pg_catalog.oid)) from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace where c.relkind in ('r', 'p', 'm', 'v', 'f') and ${OTHERS})::pg_catalog.text, '{}'), true);`;

/** Of each relation that was there and is locked: its name, the modes, and whether it has another file. */
export const PROBE = `select pg_catalog.format('%I.%I', n.nspname, c.relname), pg_catalog.string_agg(distinct l.mode, ','),
    coalesce(pg_catalog.pg_relation_filenode(c.oid), 0::pg_catalog.oid)::pg_catalog.text <> (f.files ->> c.oid::pg_catalog.text)
  from (select pg_catalog.current_setting('svc.plan_files')::pg_catalog.jsonb) as f (files)
    cross join pg_catalog.pg_locks l join pg_catalog.pg_class c on c.oid = l.relation join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where l.pid = pg_catalog.pg_backend_pid() and l.locktype = 'relation' and l.granted and f.files ? c.oid::pg_catalog.text
  group by n.nspname, c.relname, c.oid, f.files order by 1`;

/** From the strongest on. */
const MODES = [
  ['AccessExclusiveLock', 'access exclusive'],
  ['ExclusiveLock', 'exclusive'],
  ['ShareRowExclusiveLock', 'share row exclusive'],
  ['ShareLock', 'share'],
  ['ShareUpdateExclusiveLock', 'share update exclusive'],
  ['RowExclusiveLock', 'row exclusive'],
] as const;
const WRITES_WAIT = 3;

/** Locks that writes of rows take, or stronger ones. @param probed rows of `PROBE` */
function heldIn(probed: Json | undefined): readonly HeldLock[] {
  return (isJsonArray(probed) ? probed : []).flatMap((row) => {
    if (!isJsonArray(row)) return [];
    const held = String(row[1]).split(',');
    const strongest = MODES.find(([mode]) => held.includes(mode));
    return strongest === undefined ? [] : [{ table: String(row[0]), mode: strongest[1], rewritten: row[2] === 't' }];
  });
}

/**
 * What a migration has locked and written anew.
 * @param before what was probed behind the one before it, in the same transaction
 */
export function locksIn(probed: Json | undefined, before: Json | undefined): readonly HeldLock[] {
  const known = new Map(heldIn(before).map((lock) => [lock.table, lock]));
  return heldIn(probed).filter(({ table, mode, rewritten }) => {
    const earlier = known.get(table);
    return earlier === undefined || earlier.mode !== mode || (rewritten && !earlier.rewritten);
  });
}

/** For people: those that others wait for. */
export function whoWaits(locks: readonly HeldLock[]): readonly string[] {
  const named = (told: readonly HeldLock[]): string => told.map(({ table }) => table).join(', ');
  const lines = MODES.slice(0, WRITES_WAIT + 1).flatMap(([, mode], i) => {
    const held = locks.filter((lock) => lock.mode === mode);
    return held.length === 0 ? [] : [`${i === 0 ? 'reads and writes' : 'writes'} of ${named(held)} wait meanwhile (${mode})`];
  });
  const rewritten = locks.filter((lock) => lock.rewritten);
  return rewritten.length === 0 ? lines : [...lines, `all rows of ${named(rewritten)} are written anew`];
}
