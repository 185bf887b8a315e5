-- Tables, columns and constraints as parallel arrays: one JSON array per property, in one order.
-- $1: names as a JSON array of {schema, name}, or null for all.
with recursive wanted as (
  select r.oid, r.relname, n.nspname, r.relkind, r.relispartition, r.relhastriggers, r.relrowsecurity, r.relhasrules,
    r.relkind = 'r' and not (r.relispartition or r.relhassubclass or r.relrowsecurity or r.relhasrules)
      and not exists (select from pg_inherits i where i.inhrelid = r.oid) as stored
  from pg_class r
  join pg_namespace n on n.oid = r.relnamespace
  where r.relkind in ('r', 'p', 'v', 'm', 'f')
    and n.nspname not like 'pg\_%'
    and n.nspname not like '\_timescaledb\_%'
    and n.nspname not in ('information_schema', 'svc_catalog', 'topology', 'tiger', 'tiger_data', 'timescaledb_information', 'timescaledb_experimental')
    and ($1::json is null or (n.nspname, r.relname) in (select x.schema, x.name from json_to_recordset($1::json) x (schema name, name name)))
),
-- Tables whose rows are read with those of a table that is no partitioned one. They need not keep its keys, nor all its NOT NULLs.
heirs as (
  select w.oid, i.inhrelid as heir
  from wanted w
  join pg_inherits i on i.inhparent = w.oid
  where w.relkind in ('r', 'f')
  union
  select h.oid, i.inhrelid from heirs h join pg_inherits i on i.inhparent = h.heir
),
-- All tables whose rows are read with those of another.
parts as (
  select w.oid, i.inhrelid as part
  from wanted w
  join pg_inherits i on i.inhparent = w.oid
  where w.relkind in ('r', 'p')
  union
  select p.oid, i.inhrelid from parts p join pg_inherits i on i.inhparent = p.part
),
keys as (
  select c.conrelid, c.conname, c.contype, c.conkey, c.confrelid, c.confkey, c.convalidated
  from pg_constraint c
  join wanted w on w.oid = c.conrelid
  where c.contype in ('p', 'u', 'f', 'c', 'x')
    -- A key that points to a partitioned table has copies that point to its partitions.
    and not (c.contype = 'f' and c.conparentid <> 0 and exists (
      select from pg_constraint parent where parent.oid = c.conparentid and parent.conrelid = c.conrelid))
),
-- Foreign keys that do more than forbid.
acting as (
  select c.confrelid, bool_or(c.confupdtype not in ('a', 'r')) as on_update, bool_or(c.confdeltype not in ('a', 'r')) as on_delete
  from pg_constraint c
  where c.contype = 'f'
  group by c.confrelid
),
targets as (
  select r.oid, r.relname, n.nspname
  from pg_class r
  join pg_namespace n on n.oid = r.relnamespace
  where r.oid in (select confrelid from keys where contype = 'f')
    and not exists (select from wanted w where w.oid = r.oid)
)
select
  (select json_build_object(
      'id', coalesce(array_to_json(array_agg(w.oid::int8)), '[]'),
      'schema', coalesce(array_to_json(array_agg(w.nspname)), '[]'),
      'name', coalesce(array_to_json(array_agg(w.relname)), '[]'),
      'kind', coalesce(array_to_json(array_agg(w.relkind)), '[]'),
      'partition', coalesce(array_to_json(array_agg(w.relispartition)), '[]'),
      'comment', coalesce(array_to_json(array_agg(d.description)), '[]'),
      'stored', coalesce(array_to_json(array_agg(w.stored)), '[]'),
      -- Rules and policies of parts count only where these are read by themselves.
      'snapshotBound', coalesce(array_to_json(array_agg(
        w.relkind in ('r', 'p') and not (w.relrowsecurity or w.relhasrules) and not exists (
          select from parts p join pg_class c on c.oid = p.part where p.oid = w.oid and c.relkind not in ('r', 'p')))), '[]'),
      'rowSecurity', coalesce(array_to_json(array_agg(w.relrowsecurity)), '[]'),
      'inherited', coalesce(array_to_json(array_agg(exists (select from heirs h where h.oid = w.oid))), '[]'),
      -- The bits of 'events': 4 update, 8 insert, 16 delete.
      'effects', coalesce(array_to_json(array_agg(
        case
          when not w.stored or (w.relhastriggers and exists (
            -- the service's own triggers only write to a log that no statement reads in the same request
            select from pg_trigger g join pg_proc f on f.oid = g.tgfoid
            where g.tgrelid = w.oid and not g.tgisinternal
              and not (f.pronamespace is not distinct from to_regnamespace('svc_catalog') and f.proname like 'notify\_svc\_%'))) then 28
          else 0
        end
        | case when a.on_update then 4 else 0 end
        | case when a.on_delete then 16 else 0 end)), '[]'),
      'events', coalesce(array_to_json(array_agg(
        case
          when w.relkind = 'm' then 0
          when w.relkind not in ('v', 'f') then 28
          -- A call of a wrapper without a handler would fail.
          when w.relkind = 'f' and not exists (
            select from pg_foreign_table f
            join pg_foreign_server s on s.oid = f.ftserver
            join pg_foreign_data_wrapper h on h.oid = s.srvfdw
            where f.ftrelid = w.oid and h.fdwhandler <> 0) then 0
          else pg_relation_is_updatable(w.oid, true)
        end)), '[]'))
    from wanted w
    left join acting a on a.confrelid = w.oid
    left join pg_description d on d.objoid = w.oid and d.classoid = 'pg_class'::regclass and d.objsubid = 0),
  (select json_build_object(
      'table', coalesce(array_to_json(array_agg(a.attrelid::int8)), '[]'),
      'position', coalesce(array_to_json(array_agg(a.attnum)), '[]'),
      'name', coalesce(array_to_json(array_agg(a.attname)), '[]'),
      'type', coalesce(array_to_json(array_agg(a.atttypid::int8)), '[]'),
      -- 100 is the default one, which agrees with all others.
      'collation', coalesce(array_to_json(array_agg(case when a.attcollation not in (0, 100) then a.attcollation::int8 end)), '[]'),
      'deterministic', coalesce(array_to_json(array_agg(coalesce(l.collisdeterministic, true))), '[]'),
      'notNull', coalesce(array_to_json(array_agg(a.attnotnull)), '[]'),
      'hasDefault', coalesce(array_to_json(array_agg(a.atthasdef)), '[]'),
      'identity', coalesce(array_to_json(array_agg(a.attidentity)), '[]'),
      'generated', coalesce(array_to_json(array_agg(a.attgenerated)), '[]'),
      'comment', coalesce(array_to_json(array_agg(d.description)), '[]'))
    from (
      select a.attrelid, a.attnum, a.attname, a.atttypid, a.attcollation, a.atthasdef, a.attidentity, a.attgenerated,
        a.attnotnull and not exists (
          select from heirs h join pg_attribute b on b.attrelid = h.heir and b.attname = a.attname
          where h.oid = a.attrelid and not b.attnotnull) as attnotnull
      from pg_attribute a join wanted w on w.oid = a.attrelid
      where a.attnum > 0 and not a.attisdropped
      order by a.attrelid, a.attnum) a
    left join pg_collation l on l.oid = a.attcollation
    left join pg_description d on d.objoid = a.attrelid and d.classoid = 'pg_class'::regclass and d.objsubid = a.attnum),
  (select json_build_object(
      'table', coalesce(array_to_json(array_agg(k.conrelid::int8)), '[]'),
      'name', coalesce(array_to_json(array_agg(k.conname)), '[]'),
      'kind', coalesce(array_to_json(array_agg(k.contype)), '[]'),
      'columns', coalesce(json_agg(k.conkey), '[]'),
      'valid', coalesce(array_to_json(array_agg(k.convalidated)), '[]'),
      'target', coalesce(array_to_json(array_agg(k.confrelid::int8)), '[]'),
      'targetColumns', coalesce(json_agg(k.confkey), '[]'))
    from (select * from keys order by conrelid, conname) k),
  (select coalesce(json_agg(json_build_object(
      'id', t.oid::int8, 'schema', t.nspname, 'name', t.relname,
      'columns', (select json_object_agg(a.attnum, a.attname) from pg_attribute a where a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped))), '[]')
    from targets t)
