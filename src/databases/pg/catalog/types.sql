-- The types in $1 (an array of OIDs) with the base types of domains and the elements of arrays.
with recursive used (oid) as (
  select unnest($1::oid[])
  union
  select v.oid
  from used u
  join pg_type t on t.oid = u.oid
  cross join lateral (values (t.typbasetype), (case when t.typcategory = 'A' then t.typelem end)) v (oid)
  where v.oid <> 0
)
select
  (select coalesce(json_agg(json_build_object(
      'id', t.oid::int8,
      'schema', n.nspname,
      'name', t.typname,
      'kind', t.typtype,
      'element', case when t.typcategory = 'A' then t.typelem::int8 else 0 end,
      'base', t.typbasetype::int8,
      'hasDefault', t.typdefault is not null,
      'table', case when r.relkind in ('r', 'p', 'v', 'm', 'f') then json_build_object('schema', m.nspname, 'name', r.relname) end)), '[]')
    from used u
    join pg_type t on t.oid = u.oid
    join pg_namespace n on n.oid = t.typnamespace
    left join pg_class r on r.oid = t.typrelid
    left join pg_namespace m on m.oid = r.relnamespace),
  to_json(current_setting('server_version_num')::int)
