/**
 * Tables of Citus that the service reads, for a database without the extension, with functions that only record what those of the
 * extension would do. It shows how the service interprets such a catalog, not what Citus puts into it.
 */
export const STAND_IN_CATALOG = `
set allow_system_table_mods = on;
create table pg_catalog.pg_dist_partition (logicalrelid regclass primary key, partmethod "char" not null, partkey text,
  colocationid int not null default 0, repmodel "char" not null default 'c', autoconverted bool not null default false);
create table pg_catalog.pg_dist_schema (schemaid regnamespace primary key, colocationid int not null);
create function pg_catalog.column_to_column_name(table_name regclass, column_var_text text) returns text language sql strict stable
  as $$ select attname::text from pg_attribute where attrelid = table_name and attnum = substring(column_var_text from ':varattno (\\d+)')::int $$;
create view public.citus_tables as select logicalrelid as table_name from pg_catalog.pg_dist_partition;
create schema columnar;
create table columnar.options (regclass regclass);
with made as (insert into pg_catalog.pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
  select (select max(oid::int8) + 1 from pg_extension)::oid, 'citus', nspowner, oid, false, '13' from pg_namespace where nspname = 'public' returning oid)
insert into pg_catalog.pg_depend (classid, objid, objsubid, refclassid, refobjid, refobjsubid, deptype)
  select 'pg_class'::regclass, own, 0, 'pg_extension'::regclass, made.oid, 0, 'e' from made, unnest(array['public.citus_tables', 'columnar.options']::regclass[]) own;
reset allow_system_table_mods;
create function public.create_distributed_table(name regclass, key text, group_id int) returns void language sql as $$
  insert into pg_dist_partition (logicalrelid, partmethod, partkey, colocationid, repmodel)
  select name, 'h', '{VAR :varno 1 :varattno ' || attnum || ' :vartype ' || atttypid || '}', group_id, 's'
  from pg_attribute where attrelid = name and attname = key $$;
create function public.create_distributed_table(name regclass, group_id int) returns void language sql as $$
  insert into pg_dist_partition (logicalrelid, partmethod, colocationid, repmodel) values (name, 'n', group_id, 's') $$;
create function public.create_reference_table(name regclass) returns void language sql as $$
  insert into pg_dist_partition (logicalrelid, partmethod, colocationid, repmodel) values (name, 'n', 1, 't') $$;
create function public.citus_add_local_table_to_metadata(name regclass) returns void language sql as $$
  insert into pg_dist_partition (logicalrelid, partmethod, colocationid, repmodel) values (name, 'n', 0, 's') $$;
create function public.undistribute_table(name regclass) returns void language sql as $$
  delete from pg_dist_partition where logicalrelid = name $$;`;
