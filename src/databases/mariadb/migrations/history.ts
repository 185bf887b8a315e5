import { type Limits, type MigrationHistory, type Refusal, REFUSALS } from '../../../backend/migration-dialect.ts';
import { historyStatements } from '../../shared/migration-history.ts';
import { textLiteral } from './text-literal.ts';

function refuse(condition: string, refusal: Refusal): string {
  return `begin not atomic if ${condition} then signal sqlstate '45000' set message_text = '${REFUSALS[refusal]}'; end if; end;\n`;
}

const TABLES = `create table if not exists svc_migration (version decimal(20, 0) primary key, name text not null, checksum varchar(64) not null,
  applied_at timestamp(3) not null default current_timestamp(3), applied_by varchar(255) not null default '', duration_ms bigint not null default 0,
  dirty boolean not null default false, down_sql longtext) character set utf8mb4;
create table if not exists svc_seed (name varchar(500) primary key, checksum varchar(64) not null, applied_at timestamp(3) not null default current_timestamp(3)) character set utf8mb4;\n`;
const LOCK = `concat('svc_migration.', database())`;

/** DDL commits implicitly, so the lock is always held by the session. */
const locked = ({ statementTimeoutMs, lockTimeoutMs }: Limits, sql: string): string =>
  (statementTimeoutMs === undefined ? '' : `set max_statement_time = ${statementTimeoutMs / 1000};\n`) +
  (lockTimeoutMs === undefined ? '' : `set lock_wait_timeout = ${Math.max(1, Math.ceil(lockTimeoutMs / 1000))};\n`) +
  refuse(`get_lock(${LOCK}, 0) <> 1`, 'locked') +
  `${TABLES}${sql}do release_lock(${LOCK});\n`;

/** Migration history in MariaDB: an entry is marked dirty before its SQL runs, and applied afterwards. */
export const history: MigrationHistory = {
  exists: `select if(exists(select 1 from information_schema.tables where table_schema = database() and table_name = 'svc_migration'), '1', '0')`,
  entries: `select coalesce(concat('[', group_concat(json_object('version', cast(version as char), 'name', name, 'checksum', checksum, 'applied_at', cast(applied_at as char),
    'applied_by', applied_by, 'duration_ms', duration_ms, 'dirty', dirty = 1, 'down', down_sql) order by version separator ','), ']'), '[]') from svc_migration`,
  locked: `select if(is_used_lock(${LOCK}) is null, '0', '1')`,
  seeds: `select coalesce(concat('[', group_concat(json_object('name', name, 'checksum', checksum) order by name separator ','), ']'), '[]') from svc_seed`,
  inTransaction: locked,
  inSession: locked,
  ...historyStatements({
    migrations: 'svc_migration',
    seeds: 'svc_seed',
    end: ';\ncommit;\n',
    elapsed: 'timestampdiff(microsecond, applied_at, current_timestamp(3)) / 1000',
    inserted: { applied_by: 'current_user()' },
    text: textLiteral,
    refuse,
  }),
};
