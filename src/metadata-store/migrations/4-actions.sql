-- Actions were one section without effect; now each is a piece. A section with anything else stays
-- without effect.
create temporary table kept_action on commit drop as
  select e.value as definition, e.value ->> 'name' as name, p.changed_at_version,
    json_typeof(e.value -> 'name') = 'string' and e.value ->> 'name' ~ '^[_A-Za-z][_0-9A-Za-z]*$'
      and json_typeof(e.value #> '{definition,handler}') = 'string' and e.value #>> '{definition,handler}' <> ''
      and json_typeof(e.value #> '{definition,output_type}') = 'string' as is_one
  from svc_catalog.metadata_piece p,
    json_array_elements(case json_typeof(p.definition) when 'array' then p.definition else '[]' end) e
  where p.kind = 'section' and p.key = 'actions';
delete from kept_action where not (select bool_and(coalesce(is_one, false)) from kept_action);
insert into svc_catalog.metadata_piece (kind, source, key, definition, changed_at_version)
  select distinct on (name) 'action', '', name, definition, changed_at_version from kept_action;
update svc_catalog.metadata_piece set definition = null
  where kind = 'section' and key = 'actions' and exists (select from kept_action);
