import type { Backend } from '../../backend/backend.ts';
import { configuration, type PostgresqlConfiguration, storedConfiguration } from '../postgresql/configuration.ts';
import { postgresql } from '../postgresql/index.ts';
import { migrations as postgresqlMigrations } from '../postgresql/migrations/index.ts';
import { sqlText } from '../postgresql/sql-text.ts';
import { capabilities } from './capabilities.ts';
import { compiler } from './compile/compiler.ts';
import { connect } from './connect.ts';
import type { CitusSource } from './source.ts';
import { areJoined } from './joins.ts';

/** Schema dumps, differences and databases for trials of PostgreSQL do not contain the distribution of tables. */
const { dumpSchema: _dump, diffSchemas: _diff, scratch: _scratch, ...migrations } = postgresqlMigrations;

/** Functions of the extension that change the distribution of tables. */
const MOVES_TABLES =
  /\b(?:(?:create|alter)_distributed_table(?:_concurrently)?|undistribute_table|create_reference_table|update_distributed_table_colocation|mark_tables_colocated|citus_add_local_table_to_metadata|remove_local_tables_from_metadata|citus_schema_(?:un)?distribute)\b/i;

/** Citus: PostgreSQL whose tables may be spread over servers. */
export const citus: Backend<PostgresqlConfiguration, CitusSource> = {
  ...postgresql,
  kind: 'dbc',
  aliases: [],
  product: 'citus',
  console: { ...postgresql.console, title: 'Citus' },
  configuration,
  storedConfiguration,
  exampleConfiguration: { connection_info: { database_url: { from_env: 'MY_CITUS_URL' } } },
  types: { ...postgresql.types, joins: areJoined },
  capabilities,
  sqlText: { ...sqlText, mayChangeCatalog: (sql) => sqlText.mayChangeCatalog(sql) || MOVES_TABLES.test(sql) },
  migrations,
  // The diagnostics of PostgreSQL would describe only the coordinator.
  diagnostics: {},
  compiler,
  connect,
};
