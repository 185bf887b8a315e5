import type { RollbackDialect } from '../../../backend/migration-dialect.ts';
import { history } from './history.ts';
import { schemaLines } from './schema-lines.ts';
import { OTHERS } from './scratch.ts';

const marker = 'svc: verified ';

const failing = (result: string): string => `do $svc_verify$ begin raise exception '${marker}%', ${result}; end $svc_verify$;`;

function linesAfter(sql: string): string {
  const result = `(select coalesce(json_agg(line order by line), '[]') from (${schemaLines}) as printed)`;
  return history.inTransaction({}, `${sql}\n;\nset local search_path = pg_catalog, pg_temp;\n${failing(result)}`);
}

function upDownUp(before: string, up: string, down: string, maxLines: number): string {
  const print = (index: number): string =>
    `set local search_path = pg_catalog, pg_temp; create temp table svc_verify_${index} on commit drop as ${schemaLines}; reset search_path;\n`;
  const only = (a: number, b: number): string =>
    `(select coalesce(json_agg(line), '[]') from (select line from pg_temp.svc_verify_${a} except select line from pg_temp.svc_verify_${b} order by 1 limit ${maxLines}) x)`;
  const compare = (a: number, b: number): string => `json_build_object('left', ${only(b, a)}, 'lost', ${only(a, b)})`;
  const steps = [before, up, down, up].map((sql, i) => `${sql}\n;\n${print(i)}`);
  return history.inTransaction({}, steps.join('') + failing(`json_build_array(${compare(0, 2)}, ${compare(1, 3)})`));
}

/** Keeps, for the transaction, the relations that exist and their files. */
const REMEMBER_FILES = `select pg_catalog.set_config('svc.plan_files', coalesce((select pg_catalog.json_object_agg(c.oid, coalesce(pg_catalog.pg_relation_filenode(c.oid), 0::pg_catalog.oid)) from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace where c.relkind in ('r', 'p', 'm', 'v', 'f') and ${OTHERS})::pg_catalog.text, '{}'), true);`;

/** Modes of locks from the strongest on, under their names in the manual, with the operations that wait for them. */
const MODES = `(1, 'AccessExclusiveLock', 'access exclusive', 'reads and writes'), (2, 'ExclusiveLock', 'exclusive', 'writes'),
    (3, 'ShareRowExclusiveLock', 'share row exclusive', 'writes'), (4, 'ShareLock', 'share', 'writes'),
    (5, 'ShareUpdateExclusiveLock', 'share update exclusive', ''), (6, 'RowExclusiveLock', 'row exclusive', '')`;

const probe = `select distinct on (1) pg_catalog.format('%I.%I', n.nspname, c.relname), m.shown, m.blocks,
    coalesce(pg_catalog.pg_relation_filenode(c.oid), 0::pg_catalog.oid)::pg_catalog.text <> (f.files ->> c.oid::pg_catalog.text)
  from (select pg_catalog.current_setting('svc.plan_files')::pg_catalog.jsonb) as f (files)
    cross join pg_catalog.pg_locks l join (values ${MODES}) as m (strength, mode, shown, blocks) on m.mode = l.mode
    join pg_catalog.pg_class c on c.oid = l.relation join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where l.pid = pg_catalog.pg_backend_pid() and l.locktype = 'relation' and l.granted and f.files ? c.oid::pg_catalog.text
  order by 1, m.strength`;

/** Trials in transactions of PostgreSQL, which undo definitions. */
export const rollback: RollbackDialect = {
  marker,
  linesAfter,
  upDownUp,
  prelude: ({ statementTimeoutMs = 0, lockTimeoutMs = 0 }) =>
    `set local statement_timeout = ${Math.round(statementTimeoutMs)}; set local lock_timeout = ${Math.round(lockTimeoutMs)}; ${REMEMBER_FILES}`,
  probe,
};
