#!/usr/bin/env bash
# Databases and roles with no more rights than the service needs; runs once, when the volume is empty. docs/how-to/postgres-roles.md says why
# each of them.
set -euo pipefail
{ read -r meta_password; read -r app_password; } </run/secrets/roles

psql --username postgres --set ON_ERROR_STOP=1 --set meta_password="$meta_password" --set app_password="$app_password" <<'SQL'
create role svc_meta login password :'meta_password' nosuperuser nocreatedb nocreaterole nobypassrls connection limit 20;
create role svc_app login password :'app_password' nosuperuser nocreatedb nocreaterole nobypassrls connection limit 120;
create role app_owner nologin;
create database svc_meta;
create database app owner app_owner;
revoke connect on database svc_meta, app from public;
grant connect on database svc_meta to svc_meta;
grant connect on database app to svc_app;
alter role svc_app set statement_timeout = '120s';

\connect svc_meta
create schema svc_catalog authorization svc_meta;

\connect app
revoke create on schema public from public;
grant usage on schema public to svc_app;
alter schema public owner to app_owner;
grant select, insert, update, delete on all tables in schema public to svc_app;
grant usage on all sequences in schema public to svc_app;
alter default privileges for role app_owner in schema public grant select, insert, update, delete on tables to svc_app;
alter default privileges for role app_owner in schema public grant usage on sequences to svc_app;
-- Event triggers: what they record, and, for each table, `grant trigger on … to svc_app`.
create schema svc_catalog authorization svc_app;
SQL
