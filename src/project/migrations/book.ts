/**
 * What was run in a source is written down in the source itself, in the transaction of the migration: nothing that is killed on the
 * way can make the two disagree. A book is how that is said to one kind of database; all of it is text for `run_sql`.
 */
import { type ScannedSql, scanDbbSql, scanSql } from './scan-sql.ts';

export interface Entry {
  readonly version: bigint;
  readonly name: string;
  readonly checksum: string;
  readonly appliedAt: string;
  readonly appliedBy: string;
  readonly durationMs: number;
  /** Began and did not end: it runs at the moment, or was cut off. */
  readonly dirty: boolean;
  readonly down: string | null;
}

export interface NewEntry {
  readonly version: bigint;
  readonly name: string;
  readonly checksum: string;
  readonly down: string | null;
}

export interface Limits {
  /** ms; undefined: that of the source. */
  readonly statementTimeoutMs?: number | undefined;
  readonly lockTimeoutMs?: number | undefined;
}

export interface Book {
  /** Definitions are undone with their transaction. */
  readonly transactional: boolean;
  /** How its database reads a text. */
  readonly scan: (sql: string) => ScannedSql;
  /** One cell: whether anything was ever written down, `1` or `0`. */
  readonly exists: string;
  /** One cell: a JSON list of all entries. */
  readonly entries: string;
  /** One cell: whether somebody migrates at the moment, `1` or `0`. */
  readonly locked: string;
  /** One cell: a JSON list of the seeds that were run once. */
  readonly seeds: string;
  /** In front of SQL in one transaction: takes the lock or fails with `locked`, makes the tables. */
  begin(limits: Limits): string;
  /** The same for statements without a transaction around them; the lock is of the session. */
  beginSession(limits: Limits): string;
  endSession: string;
  /** Fails with `done` where the version is there already, with `dirty` where it began and did not end: nobody else runs it behind `begin`. */
  refuseApplied(version: bigint): string;
  /** Fails with `gone` where the version is not there. */
  refuseMissing(version: bigint): string;
  insert(entry: NewEntry, how: { readonly dirty: boolean }): string;
  /** Of an entry that was written as dirty. */
  settle(version: bigint): string;
  /** Makes an entry dirty, where its SQL is taken back without a transaction. */
  soil(version: bigint): string;
  /** Undoes that. */
  clean(version: bigint): string;
  /** Behind the first statement of a dirty one: `durationMs` is negative from here on. */
  passFirst(version: bigint): string;
  remove(version: bigint): string;
  refuseSeed(name: string): string;
  insertSeed(name: string, checksum: string): string;
}

/** What the text that a book makes fails with, on purpose. */
export type Refusal = 'locked' | 'done' | 'gone' | 'dirty';

const REFUSALS: Readonly<Record<Refusal, string>> = {
  locked: 'svc: locked',
  done: 'svc: applied already',
  gone: 'svc: not applied',
  dirty: 'svc: began and did not end',
};

/** Why a book's text was refused; undefined: something else failed. */
export function refusalOf(message: string): Refusal | undefined {
  return (Object.keys(REFUSALS) as Refusal[]).find((refusal) => message.includes(REFUSALS[refusal]));
}

/** Of a text that means the same whatever the session's settings are. */
export function pgText(text: string): string {
  return `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

function pgOrNull(text: string | null): string {
  return text === null ? 'null' : pgText(text);
}

/** Any number: the same for all who run migrations in a database. */
const LOCK = '7329650142863';

const PG_TABLES = `
  if pg_catalog.to_regclass('svc_catalog.migration') is null then
    create schema if not exists svc_catalog;
    create table svc_catalog.migration (
      version pg_catalog.numeric(20, 0) primary key,
      name pg_catalog.text not null,
      checksum pg_catalog.text not null,
      applied_at pg_catalog.timestamptz not null default pg_catalog.now(),
      applied_by pg_catalog.text not null default current_user,
      duration_ms pg_catalog.int8 not null default 0,
      dirty pg_catalog.bool not null default false,
      down_sql pg_catalog.text
    );
    create table svc_catalog.seed (
      name pg_catalog.text primary key,
      checksum pg_catalog.text not null,
      applied_at pg_catalog.timestamptz not null default pg_catalog.now()
    );
  end if;`;

function pgBlock(body: string): string {
  return `do $svc_book$ begin ${body} end $svc_book$;\n`;
}

function pgRefuse(condition: string, refusal: Refusal): string {
  return pgBlock(`if ${condition} then raise exception '${REFUSALS[refusal]}' using errcode = 'SV000'; end if;`);
}

function pgLimits({ statementTimeoutMs, lockTimeoutMs }: Limits, local: string): string {
  const set = (name: string, value: number | undefined): string =>
    value === undefined ? '' : `set ${local}${name} = ${Math.round(value)};\n`;
  return set('statement_timeout', statementTimeoutMs) + set('lock_timeout', lockTimeoutMs);
}

export const pgBook: Book = {
  transactional: true,
  scan: scanSql,
  exists: `select case when pg_catalog.to_regclass('svc_catalog.migration') is null then '0' else '1' end`,
  entries: `select coalesce(json_agg(json_build_object('version', version::text, 'name', name, 'checksum', checksum, 'applied_at', applied_at,
    'applied_by', applied_by, 'duration_ms', duration_ms, 'dirty', dirty, 'down', down_sql) order by version), '[]') from svc_catalog.migration`,
  // The two halves of the number are two columns.
  locked: `select case when exists (select from pg_catalog.pg_locks where locktype = 'advisory' and granted and objsubid = 1
    and database = (select oid from pg_catalog.pg_database where datname = pg_catalog.current_database())
    and classid::pg_catalog.int8 = ${LOCK}::pg_catalog.int8 >> 32 and objid::pg_catalog.int8 = ${LOCK}::pg_catalog.int8 & 4294967295) then '1' else '0' end`,
  seeds: `select coalesce(json_agg(json_build_object('name', name, 'checksum', checksum) order by name), '[]') from svc_catalog.seed`,
  begin: (limits) =>
    pgLimits(limits, 'local ') + pgRefuse(`not pg_catalog.pg_try_advisory_xact_lock(${LOCK})`, 'locked') + pgBlock(PG_TABLES),
  beginSession: (limits) => pgLimits(limits, '') + pgRefuse(`not pg_catalog.pg_try_advisory_lock(${LOCK})`, 'locked') + pgBlock(PG_TABLES),
  endSession: `select pg_catalog.pg_advisory_unlock(${LOCK});\n`,
  refuseApplied: (version) =>
    pgRefuse(`exists (select from svc_catalog.migration where version = ${version} and dirty)`, 'dirty') +
    pgRefuse(`exists (select from svc_catalog.migration where version = ${version})`, 'done'),
  refuseMissing: (version) => pgRefuse(`not exists (select from svc_catalog.migration where version = ${version})`, 'gone'),
  insert: ({ version, name, checksum, down }, { dirty }) =>
    `insert into svc_catalog.migration (version, name, checksum, down_sql, dirty, duration_ms) values (${version}, ${pgText(name)}, ${pgText(checksum)}, ${pgOrNull(down)}, ${dirty}, (extract(epoch from pg_catalog.clock_timestamp() - pg_catalog.transaction_timestamp()) * 1000)::pg_catalog.int8);\n`,
  settle: (version) =>
    `update svc_catalog.migration set dirty = false, duration_ms = (extract(epoch from pg_catalog.clock_timestamp() - applied_at) * 1000)::pg_catalog.int8 where version = ${version};\n`,
  soil: (version) => `update svc_catalog.migration set dirty = true where version = ${version};\n`,
  clean: (version) => `update svc_catalog.migration set dirty = false where version = ${version};\n`,
  passFirst: (version) => `update svc_catalog.migration set duration_ms = -1 - duration_ms where version = ${version};\n`,
  remove: (version) => `delete from svc_catalog.migration where version = ${version};\n`,
  refuseSeed: (name) => pgRefuse(`exists (select from svc_catalog.seed where name = ${pgText(name)})`, 'done'),
  insertSeed: (name, checksum) => `insert into svc_catalog.seed (name, checksum) values (${pgText(name)}, ${pgText(checksum)});\n`,
};

/** Of a text in MariaDB, by its bytes: no setting changes what that means. */
export function dbbText(text: string): string {
  return text === '' ? `''` : `convert(x'${Buffer.from(text, 'utf8').toString('hex')}' using utf8mb4)`;
}

function dbbRefuse(condition: string, refusal: Refusal): string {
  return `begin not atomic if ${condition} then signal sqlstate '45000' set message_text = '${REFUSALS[refusal]}'; end if; end;\n`;
}

const DBB_TABLES = `create table if not exists svc_migration (version decimal(20, 0) primary key, name text not null, checksum varchar(64) not null,
  applied_at timestamp(3) not null default current_timestamp(3), applied_by varchar(255) not null default '', duration_ms bigint not null default 0,
  dirty boolean not null default false, down_sql longtext) character set utf8mb4;
create table if not exists svc_seed (name varchar(500) primary key, checksum varchar(64) not null, applied_at timestamp(3) not null default current_timestamp(3)) character set utf8mb4;\n`;
const DBB_LOCK = `concat('svc_migration.', database())`;
const dbbBegin = ({ statementTimeoutMs, lockTimeoutMs }: Limits): string =>
  (statementTimeoutMs === undefined ? '' : `set max_statement_time = ${statementTimeoutMs / 1000};\n`) +
  (lockTimeoutMs === undefined ? '' : `set lock_wait_timeout = ${Math.max(1, Math.ceil(lockTimeoutMs / 1000))};\n`) +
  dbbRefuse(`get_lock(${DBB_LOCK}, 0) <> 1`, 'locked') +
  DBB_TABLES;

/** Definitions commit there: an entry is written as dirty before, and settled after. */
export const dbbBook: Book = {
  transactional: false,
  scan: scanDbbSql,
  exists: `select if(exists(select 1 from information_schema.tables where table_schema = database() and table_name = 'svc_migration'), '1', '0')`,
  entries: `select coalesce(concat('[', group_concat(json_object('version', cast(version as char), 'name', name, 'checksum', checksum, 'applied_at', cast(applied_at as char),
    'applied_by', applied_by, 'duration_ms', duration_ms, 'dirty', dirty = 1, 'down', down_sql) order by version separator ','), ']'), '[]') from svc_migration`,
  locked: `select if(is_used_lock(${DBB_LOCK}) is null, '0', '1')`,
  seeds: `select coalesce(concat('[', group_concat(json_object('name', name, 'checksum', checksum) order by name separator ','), ']'), '[]') from svc_seed`,
  begin: dbbBegin,
  beginSession: dbbBegin,
  endSession: `do release_lock(${DBB_LOCK});\n`,
  refuseApplied: (version) =>
    dbbRefuse(`exists(select 1 from svc_migration where version = ${version} and dirty)`, 'dirty') +
    dbbRefuse(`exists(select 1 from svc_migration where version = ${version})`, 'done'),
  refuseMissing: (version) => dbbRefuse(`not exists(select 1 from svc_migration where version = ${version})`, 'gone'),
  insert: ({ version, name, checksum, down }, { dirty }) =>
    `insert into svc_migration (version, name, checksum, down_sql, dirty, applied_by) values (${version}, ${dbbText(name)}, ${dbbText(checksum)}, ${down === null ? 'null' : dbbText(down)}, ${dirty}, current_user());\ncommit;\n`,
  settle: (version) =>
    `update svc_migration set dirty = false, duration_ms = timestampdiff(microsecond, applied_at, current_timestamp(3)) / 1000 where version = ${version};\ncommit;\n`,
  soil: (version) => `update svc_migration set dirty = true where version = ${version};\ncommit;\n`,
  clean: (version) => `update svc_migration set dirty = false where version = ${version};\ncommit;\n`,
  passFirst: (version) => `update svc_migration set duration_ms = -1 - duration_ms where version = ${version};\ncommit;\n`,
  remove: (version) => `delete from svc_migration where version = ${version};\ncommit;\n`,
  refuseSeed: (name) => dbbRefuse(`exists(select 1 from svc_seed where name = ${dbbText(name)})`, 'done'),
  insertSeed: (name, checksum) => `insert into svc_seed (name, checksum) values (${dbbText(name)}, ${dbbText(checksum)});\ncommit;\n`,
};

/** Kinds of sources whose databases are migrated. */
export const MIGRATED_KINDS: ReadonlySet<string> = new Set(['pg', 'dbc', 'dbb']);

/** By the kind of the source; undefined: SQL is not migrated there. */
export function bookOf(kind: string): Book | undefined {
  if (kind === 'pg' || kind === 'dbc') return pgBook;
  return kind === 'dbb' ? dbbBook : undefined;
}
