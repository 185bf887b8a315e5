import { type Limits, type MigrationHistory, type Refusal, REFUSALS } from '../../../backend/migration-dialect.ts';
import { historyStatements } from '../../shared/migration-history.ts';
import { dialect } from '../compile/dialect.ts';

/** Number of the advisory lock: the same for all runs in a database. */
const LOCK = '7329650142863';

const TABLES = `
  if pg_catalog.to_regclass('svc_catalog.migration') is null then
    -- "if not exists" would need the privilege to create schemas even if the schema exists
    if pg_catalog.to_regnamespace('svc_catalog') is null then create schema svc_catalog; end if;
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

function block(body: string): string {
  return `do $svc_book$ begin ${body} end $svc_book$;\n`;
}

function refuse(condition: string, refusal: Refusal): string {
  return block(`if ${condition} then raise exception '${REFUSALS[refusal]}' using errcode = 'SV000'; end if;`);
}

function limitsOf({ statementTimeoutMs, lockTimeoutMs }: Limits, local: string): string {
  const set = (name: string, value: number | undefined): string =>
    value === undefined ? '' : `set ${local}${name} = ${Math.round(value)};\n`;
  return set('statement_timeout', statementTimeoutMs) + set('lock_timeout', lockTimeoutMs);
}

const remedy = (condition: string, missing: string, grant: string): string => `when not (${condition})
    then pg_catalog.format('the role %1$I ${missing}, where migrations are recorded: as the owner, run ${grant}', current_user, pg_catalog.current_database())`;

const hasRows = ['migration', 'seed']
  .flatMap((table) =>
    ['select', 'insert', 'update', 'delete'].map((right) => `pg_catalog.has_table_privilege('svc_catalog.${table}', '${right}')`),
  )
  .join(' and ');

const missingPrivilege = `select coalesce(case
  when pg_catalog.to_regnamespace('svc_catalog') is null then case
    ${remedy(`pg_catalog.has_database_privilege(pg_catalog.current_database(), 'create')`, 'cannot create the schema svc_catalog in the database %2$I', 'create schema svc_catalog authorization %1$I')} end
  ${remedy(`pg_catalog.has_schema_privilege('svc_catalog', 'usage')`, 'cannot use the schema svc_catalog', 'grant usage, create on schema svc_catalog to %1$I')}
  when pg_catalog.to_regclass('svc_catalog.migration') is null then case
    ${remedy(`pg_catalog.has_schema_privilege('svc_catalog', 'create')`, 'cannot create tables in the schema svc_catalog', 'grant create on schema svc_catalog to %1$I')} end
  ${remedy(hasRows, 'cannot write the tables svc_catalog.migration and svc_catalog.seed', 'grant select, insert, update, delete on svc_catalog.migration, svc_catalog.seed to %1$I')}
  end, '')`;

const lockedBy = (take: string): string => refuse(`not pg_catalog.${take}(${LOCK})`, 'locked') + block(TABLES);

/** History of migrations in PostgreSQL. */
export const history: MigrationHistory = {
  // Without "to_regclass", which fails if the role may not use the schema.
  exists: `select pg_catalog.count(*) from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'svc_catalog' and c.relname = 'migration'`,
  entries: `select coalesce(json_agg(json_build_object('version', version::text, 'name', name, 'checksum', checksum, 'applied_at', applied_at,
    'applied_by', applied_by, 'duration_ms', duration_ms, 'dirty', dirty, 'down', down_sql) order by version), '[]') from svc_catalog.migration`,
  missingPrivilege,
  // The two halves of the number are two columns.
  locked: `select case when exists (select from pg_catalog.pg_locks where locktype = 'advisory' and granted and objsubid = 1
    and database = (select oid from pg_catalog.pg_database where datname = pg_catalog.current_database())
    and classid::pg_catalog.int8 = ${LOCK}::pg_catalog.int8 >> 32 and objid::pg_catalog.int8 = ${LOCK}::pg_catalog.int8 & 4294967295) then '1' else '0' end`,
  seeds: `select coalesce(json_agg(json_build_object('name', name, 'checksum', checksum) order by name), '[]') from svc_catalog.seed`,
  inTransaction: (limits, sql) => limitsOf(limits, 'local ') + lockedBy('pg_try_advisory_xact_lock') + sql,
  inSession: (limits, sql) =>
    `${limitsOf(limits, '')}${lockedBy('pg_try_advisory_lock')}${sql}select pg_catalog.pg_advisory_unlock(${LOCK});\n`,
  ...historyStatements({
    migrations: 'svc_catalog.migration',
    seeds: 'svc_catalog.seed',
    end: ';\n',
    elapsed: '(extract(epoch from pg_catalog.clock_timestamp() - applied_at) * 1000)::pg_catalog.int8',
    inserted: {
      duration_ms: '(extract(epoch from pg_catalog.clock_timestamp() - pg_catalog.transaction_timestamp()) * 1000)::pg_catalog.int8',
    },
    text: dialect.string,
    refuse,
  }),
};
