-- Tables without their columns. $1: names as a JSON array of {schema, name}, or null for all.
select n.nspname, r.relname, r.relkind, d.description,
  case r.relkind
    when 'p' then (
      select case when bool_and(leaf.reltuples >= 0) then sum(leaf.reltuples)::int8 end
      from pg_partition_tree(r.oid) part
      join pg_class leaf on leaf.oid = part.relid
      where part.isleaf)
    when 'v' then null
    else case when r.reltuples >= 0 then r.reltuples::int8 end
  end,
  case when $1::json is not null then (
    select json_object_agg(a.attname, pg_get_expr(f.adbin, f.adrelid))
    from pg_attrdef f
    join pg_attribute a on a.attrelid = f.adrelid and a.attnum = f.adnum
    where f.adrelid = r.oid and a.attgenerated = '')
  end,
  -- Labels of enum types, by column.
  case when $1::json is not null then (
    select json_object_agg(a.attname, (select json_agg(e.enumlabel order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid))
    from pg_attribute a
    join pg_type t on t.oid = a.atttypid
    where a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped and t.typtype = 'e')
  end,
  -- Check constraints of one column, as pairs of the column and the condition.
  case when $1::json is not null then (
    select json_agg(json_build_array(a.attname, pg_get_constraintdef(c.oid)))
    from pg_constraint c
    join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
    where c.conrelid = r.oid and c.contype = 'c' and cardinality(c.conkey) = 1)
  end
from pg_class r
join pg_namespace n on n.oid = r.relnamespace
left join pg_description d on d.objoid = r.oid and d.classoid = 'pg_class'::regclass and d.objsubid = 0
where r.relkind in ('r', 'p', 'v', 'm', 'f')
  and n.nspname not like 'pg\_%'
  and n.nspname not like '\_timescaledb\_%'
  and n.nspname not in ('information_schema', 'svc_catalog', 'topology', 'tiger', 'tiger_data', 'timescaledb_information', 'timescaledb_experimental')
  and ($1::json is null or (n.nspname, r.relname) in (select x.schema, x.name from json_to_recordset($1::json) x (schema name, name name)))
