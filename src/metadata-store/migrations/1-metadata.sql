create table svc_catalog.metadata_version (
  id int primary key default 1 check (id = 1),
  resource_version bigint not null,
  -- all changes after this version are known: see metadata_piece
  complete_since bigint not null
);
insert into svc_catalog.metadata_version (resource_version, complete_since) values (1, 1);

-- One row per object of the metadata. A null definition marks a removed object; such rows stay for a
-- while, so that other instances can follow.
create table svc_catalog.metadata_piece (
  kind text collate "C" not null,
  source text collate "C" not null,
  key text collate "C" not null,
  -- json, not jsonb: the text of numbers stays as it was written
  definition json,
  changed_at_version bigint not null,
  primary key (kind, source, key)
);
create index on svc_catalog.metadata_piece (changed_at_version);

-- Author of each version, and what other instances must read again besides changed pieces.
create table svc_catalog.metadata_notice (
  resource_version bigint primary key,
  instance_id text not null,
  refresh json,
  created_at timestamptz not null default now()
);
