-- Calls of asynchronous actions. Values from clients and handlers are json: jsonb changes the order of keys
-- and has no U+0000.
create table svc_catalog.svc_action_log (
  id uuid primary key default (md5(random()::text || clock_timestamp()::text || random()::text)::uuid),
  action_name text collate "C" not null,
  input_payload json not null,
  request_headers jsonb not null,
  session_variables jsonb not null,
  response_payload json,
  errors json,
  created_at timestamptz not null default now(),
  response_received_at timestamptz,
  status text not null default 'created' check (status in ('created', 'processing', 'completed', 'error')),
  tries int not null default 0,
  due_at timestamptz not null default now(),
  -- the instance that makes the call, and the end of its lease
  lease_holder text,
  lease_until timestamptz
);
create index on svc_catalog.svc_action_log (action_name, due_at) where status in ('created', 'processing');
create index on svc_catalog.svc_action_log (response_received_at) where status in ('completed', 'error');
