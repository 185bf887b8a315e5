import type { Backend } from '../../backend/backend.ts';
import { qualifiedName } from '../../metadata/table-name.ts';
import { capabilities } from './capabilities.ts';
import { compiler } from './compile/compiler.ts';
import { configuration, type PostgresqlConfiguration, storedConfiguration } from './configuration.ts';
import { connect } from './connect.ts';
import { diagnostics } from './diagnostics.ts';
import { consoleForm } from './console.ts';
import { metrics } from './metrics.ts';
import { migrations } from './migrations/index.ts';
import { sqlText } from './sql-text.ts';
import type { PostgresqlSource } from './source.ts';
import { types } from './types.ts';

/** PostgreSQL. */
export const postgresql: Backend<PostgresqlConfiguration, PostgresqlSource> = {
  kind: 'pg',
  aliases: ['postgres'],
  product: 'postgres',
  defaultSchema: 'public',
  configuration,
  exampleConfiguration: { connection_info: { database_url: { from_env: 'MY_DATABASE_URL' } } },
  storedConfiguration,
  tableName: qualifiedName('public'),
  functionName: qualifiedName('public'),
  capabilities,
  types,
  sqlText,
  metrics,
  migrations,
  diagnostics,
  console: consoleForm,
  errorCodes: { failed: 'postgres-error', noConnection: 'postgres-max-connections-error' },
  isMadeUpConstraint: (name) => /_(?:pkey|key)\d*$/.test(name),
  compiler,
  connect,
};
