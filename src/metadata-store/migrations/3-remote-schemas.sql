-- Remote schemas were one section without effect; now each is a piece. A section with anything else
-- stays without effect.
create temporary table kept_remote_schema on commit drop as
  select e.value as definition, e.value ->> 'name' as name, p.changed_at_version,
    json_typeof(e.value -> 'name') = 'string' and e.value ->> 'name' <> '' and json_typeof(e.value -> 'definition') = 'object'
      and (e.value #>> '{definition,url}' is null) <> (e.value #>> '{definition,url_from_env}' is null) as is_one
  from svc_catalog.metadata_piece p,
    json_array_elements(case json_typeof(p.definition) when 'array' then p.definition else '[]' end) e
  where p.kind = 'section' and p.key = 'remote_schemas';
delete from kept_remote_schema where not (select bool_and(coalesce(is_one, false)) from kept_remote_schema);
insert into svc_catalog.metadata_piece (kind, source, key, definition, changed_at_version)
  select distinct on (name) 'remote_schema', '', name, definition, changed_at_version from kept_remote_schema;
update svc_catalog.metadata_piece set definition = null
  where kind = 'section' and key = 'remote_schemas' and exists (select from kept_remote_schema);

-- Last introspection of each remote schema, so that the service starts while one is down.
create table svc_catalog.remote_schema_introspection (
  name text collate "C" primary key,
  -- identity of the server: its address and headers
  server text not null,
  introspection text not null,
  read_at timestamptz not null default now()
);
