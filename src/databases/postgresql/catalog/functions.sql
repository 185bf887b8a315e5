-- Functions as parallel arrays. $1: names as a JSON array of {schema, name}, or null for all
-- that do not belong to an extension or (constructors of ranges) to a type.
select json_build_object(
    'id', coalesce(array_to_json(array_agg(p.oid::int8)), '[]'),
    'schema', coalesce(array_to_json(array_agg(p.nspname)), '[]'),
    'name', coalesce(array_to_json(array_agg(p.proname)), '[]'),
    'comment', coalesce(array_to_json(array_agg(d.description)), '[]'),
    'volatility', coalesce(array_to_json(array_agg(p.provolatile)), '[]'),
    'variadic', coalesce(array_to_json(array_agg(p.provariadic <> 0)), '[]'),
    'argumentTypes', coalesce(json_agg(p.proargtypes::oid[]::int8[]), '[]'),
    'argumentNames', coalesce(json_agg(p.proargnames), '[]'),
    'argumentModes', coalesce(json_agg(p.proargmodes), '[]'),
    'defaults', coalesce(array_to_json(array_agg(p.pronargdefaults)), '[]'),
    'returns', coalesce(array_to_json(array_agg(p.prorettype::int8)), '[]'),
    'returnsSet', coalesce(array_to_json(array_agg(p.proretset)), '[]'))
from (
  select p.*, n.nspname
  from pg_proc p
  join pg_namespace n on n.oid = p.pronamespace
  join pg_type t on t.oid = p.prorettype
  where p.prokind = 'f'
    and n.nspname not like 'pg\_%'
    and n.nspname not like '\_timescaledb\_%'
    and n.nspname not in ('information_schema', 'svc_catalog', 'topology', 'tiger', 'tiger_data', 'timescaledb_information', 'timescaledb_experimental')
    -- Not what triggers, foreign data wrappers and access methods are made of.
    and (t.typtype <> 'p' or t.typname in ('void', 'record') or t.typname like 'any%')
    and case
      when $1::json is null then
        not exists (select from pg_depend e where e.classid = 'pg_proc'::regclass and e.objid = p.oid and e.deptype in ('e', 'i'))
      else (n.nspname, p.proname) in (select x.schema, x.name from json_to_recordset($1::json) x (schema name, name name))
    end
  order by p.oid
) p
left join pg_description d on d.objoid = p.oid and d.classoid = 'pg_proc'::regclass and d.objsubid = 0
