-- State of administration tools. One row, whose id identifies this metadata database.
create table svc_catalog.catalog_state (
  id uuid primary key,
  cli_state json not null default '{}',
  console_state json not null default '{}'
);
-- gen_random_uuid() is not in every version of the database
insert into svc_catalog.catalog_state (id) values (md5(random()::text || clock_timestamp()::text || current_database())::uuid);
