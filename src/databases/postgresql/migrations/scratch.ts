import type { ScratchDialect } from '../../../backend/migration-dialect.ts';
import { dialect } from '../compile/dialect.ts';

/** Condition for schemas that are neither of the system nor of the service. */
export const OTHERS = `n.nspname !~ '^pg_' and n.nspname not in ('information_schema', 'svc_catalog')`;
const isOfExtension = (catalog: string, object: string): string =>
  `exists (select from pg_catalog.pg_depend d where d.classid = 'pg_catalog.${catalog}'::regclass and d.objid = ${object}.oid and d.deptype = 'e')`;
/** Sequences of identity columns can be dropped with their columns only, even by a cascade. */
const isOfIdentity = `exists (select from pg_catalog.pg_depend d where d.classid = 'pg_catalog.pg_class'::regclass and d.objid = c.oid and d.deptype = 'i')`;
/** `typtype` of types without a table: enums, domains, ranges. */
const TYPES = `('e', 'd', 'r')`;
const EMPTY = `select case when exists (select from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace where ${OTHERS} and not ${isOfExtension('pg_class', 'c')})
  or exists (select from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace where ${OTHERS} and not ${isOfExtension('pg_proc', 'p')})
  or exists (select from pg_catalog.pg_type t join pg_catalog.pg_namespace n on n.oid = t.typnamespace where t.typtype in ${TYPES} and ${OTHERS} and not ${isOfExtension('pg_type', 't')}) then '0' else '1' end`;
const BASELINE = `select coalesce(string_agg(x, ',' order by x), '') from (select 'e ' || extname from pg_extension union all select 's ' || nspname from pg_namespace where nspname !~ '^pg_(toast_)?temp') as kept (x)`;

/** @param baseline extensions and schemas of the empty database */
function clear(baseline: string): string {
  const list = baseline.split(',');
  const names = (letter: string): string =>
    `array[${list.flatMap((each) => (each.startsWith(`${letter} `) ? [dialect.string(each.slice(2))] : [])).join(', ')}]::text[]`;
  const others = (catalog: string, object: string): string => `${OTHERS} and not ${isOfExtension(catalog, object)}`;
  // All names are read before the first object is dropped: an object that was dropped by a cascade has no name.
  const each = (query: string, what: string, statement: string): string =>
    `foreach name in array coalesce((select array_agg(${what}) from ${query}), '{}') loop execute ${statement}; end loop;`;
  const kinds = `case c.relkind when 'v' then 'view' when 'm' then 'materialized view' when 'S' then 'sequence' when 'f' then 'foreign table' when 'c' then 'type' else 'table' end`;
  return `do $svc_scratch$ declare name text; begin
  ${each(`pg_extension where extname <> all (${names('e')})`, 'extname::text', `format('drop extension if exists %I cascade', name)`)}
  ${each(`pg_namespace where nspname !~ '^pg_(toast_)?temp' and nspname <> all (${names('s')})`, 'nspname::text', `format('drop schema if exists %I cascade', name)`)}
  ${each(`pg_class c join pg_namespace n on n.oid = c.relnamespace where c.relkind in ('r', 'p', 'v', 'm', 'S', 'f', 'c') and ${others('pg_class', 'c')} and not ${isOfIdentity}`, `format('%s if exists %I.%I', ${kinds}, n.nspname, c.relname)`, `'drop ' || name || ' cascade'`)}
  ${each(`pg_proc p join pg_namespace n on n.oid = p.pronamespace where ${others('pg_proc', 'p')}`, `format('%I.%I(%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid))`, `'drop routine if exists ' || name || ' cascade'`)}
  ${each(`pg_type t join pg_namespace n on n.oid = t.typnamespace where t.typtype in ${TYPES} and ${others('pg_type', 't')}`, `format('%I.%I', n.nspname, t.typname)`, `'drop type if exists ' || name || ' cascade'`)}
end $svc_scratch$;`;
}

/** Trials in a separate database. */
export const scratch: ScratchDialect = { empty: EMPTY, baseline: BASELINE, clear };
