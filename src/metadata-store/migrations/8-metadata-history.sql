-- The last changes of the metadata, with their authors. Releases before these tables write no history: the history is complete since
-- history_since if history_version is the resource version. history_newest is the version of the newest record.
alter table svc_catalog.metadata_version
  add column history_version bigint not null default 0,
  add column history_since bigint not null default 0,
  add column history_newest bigint not null default 0;

create table svc_catalog.metadata_history (
  resource_version bigint primary key,
  -- version of the record before this one, which shows missing records
  follows bigint not null,
  -- not now(): a transaction begins before it waits for another change
  changed_at timestamptz not null default clock_timestamp(),
  -- null for changes that the service makes itself
  origin json,
  object_count int not null,
  -- bytes of the objects before and after the change
  size bigint not null,
  -- false if the objects were too large to be kept
  has_objects boolean not null
);

create table svc_catalog.metadata_history_object (
  resource_version bigint not null references svc_catalog.metadata_history on delete cascade,
  kind text collate "C" not null,
  source text collate "C" not null,
  key text collate "C" not null,
  -- null if the object did not exist
  before json,
  after json,
  primary key (resource_version, kind, source, key)
);
