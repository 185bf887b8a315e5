-- The types in $1 (an array of OIDs) with the base types of domains, the elements of arrays and the attributes of composite types.
with recursive used (oid) as (
  select unnest($1::oid[])
  union
  select v.oid
  from used u
  join pg_type t on t.oid = u.oid
  cross join lateral (
    values (t.typbasetype), (case when t.typcategory = 'A' then t.typelem end)
    union all
    select a.atttypid from pg_attribute a where a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped) v (oid)
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
      'attributes', case when t.typrelid <> 0 then (
        select coalesce(json_agg(distinct a.atttypid::int8), '[]')
        from pg_attribute a
        where a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped) end,
      -- Null: those of its base type, its element or its attributes.
      'comparisons', case when t.typtype = 'b' and (t.typcategory <> 'A' or t.typelem = 0) then (
        with alike (oid, is_binary) as (
          values (t.oid, true)
          union all
          select c.casttarget, c.castmethod = 'b' from pg_cast c where c.castsource = t.oid and c.castcontext = 'i')
        select json_build_object(
          -- As an unqualified name finds them, through implicit casts too.
          'operators', (
            select coalesce(json_agg(distinct o.oprname), '[]')
            from alike a
            join pg_operator o on o.oprleft = a.oid and o.oprright = a.oid
            where o.oprname in ('=', '<>', '<', '<=', '>', '>=') and o.oprresult = 'bool'::regtype and pg_operator_is_visible(o.oid)),
          -- Access methods by whose default operators values are sorted (btree) and found equal.
          'methods', (
            select coalesce(json_agg(distinct m.amname), '[]')
            from alike a
            join pg_opclass o on o.opcintype = a.oid and o.opcdefault
            join pg_am m on m.oid = o.opcmethod
            where a.is_binary and m.amname in ('btree', 'hash')))) end,
      'table', case when r.relkind in ('r', 'p', 'v', 'm', 'f') then json_build_object('schema', m.nspname, 'name', r.relname) end)), '[]')
    from used u
    join pg_type t on t.oid = u.oid
    join pg_namespace n on n.oid = t.typnamespace
    left join pg_class r on r.oid = t.typrelid
    left join pg_namespace m on m.oid = r.relnamespace),
  to_json(current_setting('server_version_num')::int)
