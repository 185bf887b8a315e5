-- The schema of a database as one JSON object, of the shape of `SchemaSnapshot`. Names are printed with their schemas and with quotes where SQL
-- needs them, independent of the search path of the database. Objects of the system, of services and of extensions are left out.
set local search_path = pg_catalog;
with extended as materialized (select classid, objid from pg_depend where deptype = 'e'),
space as materialized (
  select n.oid, n.nspname, quote_ident(n.nspname) as shown from pg_namespace n
  where n.nspname !~ '^pg_' and n.nspname not in ('information_schema', 'svc_catalog', 'hdb_catalog')
    and not exists (select from extended e where e.classid = 'pg_namespace'::regclass and e.objid = n.oid)
),
relation as materialized (
  select c.oid, c.relname, c.relkind, c.relpersistence, c.relispartition, c.relrowsecurity, c.relforcerowsecurity, c.reloptions,
    c.relpartbound, s.shown as schema, format('%I.%I', s.nspname, c.relname) as shown,
    c.relkind = 'r' and not c.relispartition and c.reloftype = 0
      and not exists (select from pg_inherits i where c.oid in (i.inhrelid, i.inhparent)) as compared
  from pg_class c join space s on s.oid = c.relnamespace
  where c.relkind in ('r', 'p', 'v', 'm', 'f', 'S', 'c')
    and not exists (select from extended e where e.classid = 'pg_class'::regclass and e.objid = c.oid)
),
routine as materialized (
  select p.*, case p.prokind when 'p' then 'procedure ' when 'a' then 'aggregate ' else 'function ' end || p.oid::regprocedure as shown
  from pg_proc p join space s on s.oid = p.pronamespace
  where not exists (select from extended e where e.classid = 'pg_proc'::regclass and e.objid = p.oid)
),
type as materialized (
  select t.*, s.shown as schema, format('%I.%I', s.nspname, t.typname) as shown from pg_type t join space s on s.oid = t.typnamespace
  where not exists (select from extended e where e.classid = 'pg_type'::regclass and e.objid = t.oid)
),
-- Triggers of services record changes for event triggers.
trigger as materialized (
  select t.oid, t.tgrelid, t.tgname, t.tgenabled from pg_trigger t join pg_proc p on p.oid = t.tgfoid join pg_namespace n on n.oid = p.pronamespace
  where not t.tgisinternal and t.tgparentid = 0 and n.nspname not in ('svc_catalog', 'hdb_catalog') and t.tgname !~ '^notify_(svc|hasura)_'
),
setting as materialized (
  select q.seqrelid, json_build_object('name', r.shown, 'schema', r.schema, 'plain', r.relname, 'type', format_type(q.seqtypid, null),
    'increment', q.seqincrement::text, 'minimum', q.seqmin::text, 'maximum', q.seqmax::text, 'start', q.seqstart::text,
    'cache', q.seqcache::text, 'cycle', q.seqcycle) as options
  from pg_sequence q join relation r on r.oid = q.seqrelid
),
-- Objects that depend on a table or column and are not compared. `own`: dropped together with the table.
dependent as materialized (
  select d.refobjid as relation, d.refobjsubid as position, x.shown, x.own
  from pg_depend d, lateral (
    select case v.relkind when 'v' then 'view ' when 'm' then 'materialized view ' else format('rule %I on ', w.rulename) end || v.oid::regclass,
      w.ev_class = d.refobjid
      from pg_rewrite w join pg_class v on v.oid = w.ev_class where d.classid = 'pg_rewrite'::regclass and w.oid = d.objid
    union all select format('policy %I on %s', p.polname, p.polrelid::regclass), p.polrelid = d.refobjid
      from pg_policy p where d.classid = 'pg_policy'::regclass and p.oid = d.objid
    union all select format('trigger %I on %s', t.tgname, t.tgrelid::regclass), t.tgrelid = d.refobjid
      from trigger t where d.classid = 'pg_trigger'::regclass and t.oid = d.objid
    union all select p.shown, false from routine p where d.classid = 'pg_proc'::regclass and p.oid = d.objid
    union all select format('foreign key %I on %s', k.conname, k.conrelid::regclass), false
      from pg_constraint k join relation r on r.oid = k.conrelid and not r.compared
      where d.classid = 'pg_constraint'::regclass and k.oid = d.objid and k.contype = 'f' and k.conparentid = 0
  ) as x (shown, own)
  where d.refclassid = 'pg_class'::regclass and d.deptype = 'n'
  union select t.typrelid, 0, pg_describe_object(d.classid, d.objid, d.objsubid), false
  from pg_depend d join type t on d.refobjid in (t.oid, t.typarray) and t.typrelid <> 0
  where d.refclassid = 'pg_type'::regclass and d.deptype = 'n'
),
-- Columns of the same table that a constraint, an index or an expression uses.
used as materialized (
  select d.classid, d.objid, d.refobjid, quote_ident(a.attname) as name
  from pg_depend d join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
  where d.refclassid = 'pg_class'::regclass and d.refobjsubid > 0
    and d.classid in ('pg_constraint'::regclass, 'pg_class'::regclass, 'pg_attrdef'::regclass)
),
columns as materialized (
  select a.attrelid, json_agg(json_build_object(
    'name', quote_ident(a.attname), 'plain', a.attname,
    'type', format_type(a.atttypid, a.atttypmod), 'base', format_type(a.atttypid, null), 'modifier', a.atttypmod,
    'isEnum', t.typtype = 'e',
    'enum', case when coalesce(e.typtype, t.typtype) = 'e' then (select shown from type where oid = coalesce(e.oid, t.oid)) end,
    'collation', case when a.attcollation <> t.typcollation then a.attcollation::regcollation::text end,
    'notNull', case when a.attnotnull then coalesce(
      (select json_build_object('name', quote_ident(k.conname), 'plain', k.conname, 'definition', pg_get_constraintdef(k.oid))
        from pg_constraint k where k.conrelid = a.attrelid and k.contype = 'n' and k.conkey[1] = a.attnum),
      json_build_object('name', null, 'plain', null, 'definition', null)) end,
    'default', case when a.attgenerated = '' then pg_get_expr(d.adbin, d.adrelid) end,
    'generated', case when a.attgenerated <> '' then json_build_object(
      'expression', pg_get_expr(d.adbin, d.adrelid), 'isStored', a.attgenerated = 's',
      'columns', (select coalesce(json_agg(distinct u.name), '[]') from used u
        where u.classid = 'pg_attrdef'::regclass and u.objid = d.oid and u.refobjid = a.attrelid and u.name <> quote_ident(a.attname))) end,
    'sequences', (select coalesce(json_agg(r.shown), '[]') from pg_depend x join relation r on r.oid = x.refobjid and r.relkind = 'S'
      where x.classid = 'pg_attrdef'::regclass and x.objid = d.oid and x.refclassid = 'pg_class'::regclass),
    'identity', case a.attidentity when 'a' then 'always' when 'd' then 'by default' end,
    'sequence', (select s.options from pg_depend x join setting s on s.seqrelid = x.objid
      where x.classid = 'pg_class'::regclass and x.refclassid = 'pg_class'::regclass and x.refobjid = a.attrelid
        and x.refobjsubid = a.attnum and x.deptype = 'i'),
    'usedBy', (select coalesce(json_agg(distinct y.shown), '[]') from dependent y where y.relation = a.attrelid and y.position = a.attnum)
  ) order by a.attnum) as list
  from pg_attribute a join relation r on r.oid = a.attrelid and r.compared join pg_type t on t.oid = a.atttypid
    left join pg_type e on e.oid = t.typelem and t.typcategory = 'A' left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where a.attnum > 0 and not a.attisdropped group by a.attrelid
),
constraints as materialized (
  select k.conrelid, json_agg(json_build_object(
    'name', quote_ident(k.conname), 'kind', k.contype::text, 'definition', pg_get_constraintdef(k.oid),
    'columns', (select coalesce(json_agg(distinct u.name), '[]') from used u where u.refobjid = k.conrelid
      and (u.classid = 'pg_constraint'::regclass and u.objid = k.oid
        or u.classid = 'pg_class'::regclass and u.objid = k.conindid and k.contype <> 'f')),
    'index', (select format('%I.%I', n.nspname, i.relname) from pg_class i join pg_namespace n on n.oid = i.relnamespace where i.oid = k.conindid),
    'references', case when k.contype = 'f' then json_build_object(
      'table', (select format('%I.%I', n.nspname, f.relname) from pg_class f join pg_namespace n on n.oid = f.relnamespace where f.oid = k.confrelid),
      'columns', (select json_agg(quote_ident(a.attname)) from pg_attribute a where a.attrelid = k.confrelid and a.attnum = any (k.confkey))) end
  ) order by k.oid) as list
  from pg_constraint k join relation r on r.oid = k.conrelid and r.compared
  where k.contype in ('c', 'f', 'p', 'u', 'x') and k.conparentid = 0 group by k.conrelid
),
indexes as materialized (
  select i.indrelid, json_agg(json_build_object(
    'name', format('%I.%I', n.nspname, c.relname), 'definition', pg_get_indexdef(i.indexrelid),
    'columns', (select coalesce(json_agg(distinct u.name), '[]') from used u
      where u.classid = 'pg_class'::regclass and u.objid = i.indexrelid and u.refobjid = i.indrelid)
  ) order by i.indexrelid) as list
  from pg_index i join relation r on r.oid = i.indrelid and r.compared join pg_class c on c.oid = i.indexrelid
    join pg_namespace n on n.oid = c.relnamespace
  where not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u', 'x')) group by i.indrelid
),
-- Everything else, with a text that changes whenever its definition changes.
other as (
  select case r.relkind when 'v' then 'view ' when 'm' then 'materialized view ' when 'f' then 'foreign table ' when 'c' then 'composite type '
      when 'p' then 'partitioned table ' else case when r.relispartition then 'partition ' else 'table with inheritance or of a type, ' end end || r.shown as what,
    r.shown as name, r.schema,
    concat_ws(E'\n', r.reloptions::text, case when r.relkind in ('v', 'm') then pg_get_viewdef(r.oid) end, pg_get_partkeydef(r.oid),
      pg_get_expr(r.relpartbound, r.oid),
      (select string_agg(i.inhparent::regclass::text, ',' order by i.inhseqno) from pg_inherits i where i.inhrelid = r.oid),
      (select string_agg(concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, a.attgenerated, pg_get_expr(d.adbin, d.adrelid)), ',' order by a.attname)
        from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum where a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped),
      (select string_agg(k.conname || ' ' || pg_get_constraintdef(k.oid), ',' order by k.conname) from pg_constraint k where k.conrelid = r.oid),
      (select string_agg(pg_get_indexdef(i.indexrelid), ',' order by 1) from pg_index i where i.indrelid = r.oid)) as digest
    from relation r where not r.compared and r.relkind <> 'S'
  union all select 'row level security of ' || r.shown, null, null, concat_ws(' ', r.relrowsecurity, r.relforcerowsecurity)
    from relation r where r.relrowsecurity or r.relforcerowsecurity
  union all select 'storage parameters of ' || r.shown, null, null, r.reloptions::text from relation r where r.compared and r.reloptions is not null
  union all select p.shown, null, quote_ident(s.nspname), case when p.prokind <> 'a' then pg_get_functiondef(p.oid) else (select concat_ws(' ', g.aggtransfn, g.aggfinalfn, g.aggcombinefn, g.aggtranstype::regtype, g.agginitval, p.prorettype::regtype) from pg_aggregate g where g.aggfnoid = p.oid) end
    from routine p join space s on s.oid = p.pronamespace
  union all select case t.typtype when 'd' then 'domain ' when 'b' then 'base type ' else 'range type ' end || t.shown, t.shown, t.schema,
      concat_ws(' ', format_type(t.typbasetype, t.typtypmod), t.typcollation, t.typnotnull, t.typdefault,
        (select string_agg(k.conname || ' ' || pg_get_constraintdef(k.oid), ',' order by k.conname) from pg_constraint k where k.contypid = t.oid),
        (select g.rngsubtype::regtype from pg_range g where g.rngtypid = t.oid))
    from type t where t.typtype in ('d', 'r') or t.typtype = 'b' and t.typelem = 0
  union all select format('trigger %I on %s', t.tgname, r.shown), null, null, pg_get_triggerdef(t.oid) || t.tgenabled::text from trigger t join relation r on r.oid = t.tgrelid
  union all select format('policy %I on %s', p.polname, r.shown), null, null, concat_ws(' ', p.polcmd, p.polpermissive,
      (select string_agg(case x when 0 then 'public' else x::regrole::text end, ',' order by x) from unnest(p.polroles) x),
      pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))
    from pg_policy p join relation r on r.oid = p.polrelid
  union all select format('rule %I on %s', w.rulename, r.shown), null, null, pg_get_ruledef(w.oid) || w.ev_enabled::text
    from pg_rewrite w join relation r on r.oid = w.ev_class where w.rulename <> '_RETURN'
  union all select 'collation ' || format('%I.%I', n.nspname, c.collname), null, n.shown, concat_ws(' ', c.collprovider, c.collcollate, c.collctype, c.collisdeterministic)
    from pg_collation c join space n on n.oid = c.collnamespace where not exists (select from extended e where e.classid = 'pg_collation'::regclass and e.objid = c.oid)
  union all select 'text search configuration ' || format('%I.%I', n.nspname, c.cfgname), null, n.shown, c.cfgparser::text
    from pg_ts_config c join space n on n.oid = c.cfgnamespace where not exists (select from extended e where e.classid = 'pg_ts_config'::regclass and e.objid = c.oid)
  union all select 'operator ' || o.oid::regoperator::text, null, n.shown, o.oprcode::text
    from pg_operator o join space n on n.oid = o.oprnamespace where not exists (select from extended e where e.classid = 'pg_operator'::regclass and e.objid = o.oid)
  union all select 'operator class ' || format('%I.%I', n.nspname, o.opcname), null, n.shown, concat_ws(' ', o.opcmethod, o.opcintype::regtype)
    from pg_opclass o join space n on n.oid = o.opcnamespace where not exists (select from extended e where e.classid = 'pg_opclass'::regclass and e.objid = o.oid)
  union all select format('cast (%s as %s)', c.castsource::regtype, c.casttarget::regtype), null, null, concat_ws(' ', c.castfunc::regprocedure, c.castcontext, c.castmethod)
    from pg_cast c where c.oid >= 16384 and not exists (select from extended e where e.classid = 'pg_cast'::regclass and e.objid = c.oid)
  union all select 'statistics ' || format('%I.%I', n.nspname, s.stxname), null, n.shown, pg_get_statisticsobjdef(s.oid) from pg_statistic_ext s join space n on n.oid = s.stxnamespace
  union all select 'comment on ' || pg_describe_object(d.classoid, d.objoid, d.objsubid), null, null, d.description from pg_description d
    where (d.classoid, d.objoid) in (
      select 'pg_class'::regclass, oid from relation union all select 'pg_class'::regclass, i.indexrelid from pg_index i join relation r on r.oid = i.indrelid
      union all select 'pg_constraint'::regclass, k.oid from pg_constraint k join space s on s.oid = k.connamespace
      union all select 'pg_proc'::regclass, oid from routine union all select 'pg_type'::regclass, oid from type
      union all select 'pg_trigger'::regclass, oid from trigger union all select 'pg_policy'::regclass, p.oid from pg_policy p join relation r on r.oid = p.polrelid
      union all select 'pg_namespace'::regclass, oid from space where nspname <> 'public')
)
select json_build_object(
  'version', current_setting('server_version_num')::int,
  'schemas', (select coalesce(json_agg(shown order by shown), '[]') from space),
  'extensions', (select coalesce(json_agg(json_build_object('name', quote_ident(e.extname), 'schema', quote_ident(n.nspname)) order by e.extname), '[]')
    from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname <> 'plpgsql'),
  'enums', (select coalesce(json_agg(json_build_object(
      'name', t.shown, 'schema', t.schema,
      'labels', (select coalesce(json_agg(quote_literal(v.enumlabel) order by v.enumsortorder), '[]') from pg_enum v where v.enumtypid = t.oid),
      'usedBy', (select coalesce(json_agg(distinct pg_describe_object(d.classid, d.objid, d.objsubid)), '[]') from pg_depend d
        where d.refclassid = 'pg_type'::regclass and d.refobjid in (t.oid, t.typarray) and d.deptype = 'n'
          and (d.classid not in ('pg_class'::regclass, 'pg_attrdef'::regclass, 'pg_constraint'::regclass)
            or d.classid = 'pg_class'::regclass and exists (select from relation r where r.oid = d.objid and not r.compared)))
    ) order by t.shown), '[]') from type t where t.typtype = 'e'),
  'sequences', (select coalesce(json_agg(json_build_object('options', s.options, 'owner',
      (select json_build_object('table', o.shown, 'column', quote_ident(a.attname)) from pg_depend d join relation o on o.oid = d.refobjid
        join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
        where d.classid = 'pg_class'::regclass and d.objid = r.oid and d.refclassid = 'pg_class'::regclass and d.deptype = 'a')
    ) order by r.shown), '[]') from relation r join setting s on s.seqrelid = r.oid
    where not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = r.oid and d.deptype = 'i')),
  'tables', (select coalesce(json_agg(json_build_object(
      'name', r.shown, 'schema', r.schema, 'plain', r.relname, 'isUnlogged', r.relpersistence = 'u',
      'columns', coalesce(c.list, '[]'), 'constraints', coalesce(k.list, '[]'), 'indexes', coalesce(i.list, '[]'),
      'usedBy', (select coalesce(json_agg(distinct y.shown), '[]') from dependent y where y.relation = r.oid and not y.own)
    ) order by r.shown), '[]') from relation r left join columns c on c.attrelid = r.oid left join constraints k on k.conrelid = r.oid
      left join indexes i on i.indrelid = r.oid where r.compared),
  'others', (select coalesce(json_agg(json_build_object('what', o.what, 'name', o.name, 'schema', o.schema, 'digest', md5(o.digest)) order by o.what), '[]') from other o)
)
