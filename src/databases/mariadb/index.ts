import type { Backend } from '../../backend/backend.ts';
import { capabilities } from './capabilities.ts';
import { compiler } from './compile/compiler.ts';
import { configuration, type MariadbConfiguration } from './configuration.ts';
import { connect } from './connect.ts';
import { consoleForm } from './console.ts';
import { diagnostics } from './diagnostics.ts';
import { metrics } from './metrics.ts';
import { migrations } from './migrations/index.ts';
import { sqlText } from './sql-text.ts';
import { tableName, tableNameWithin } from './table-name.ts';
import type { MariadbSource } from './source.ts';
import { types } from './types.ts';

export const mariadb: Backend<MariadbConfiguration, MariadbSource> = {
  kind: 'dbb',
  aliases: [],
  product: 'mariadb',
  defaultSchema: '',
  configuration,
  exampleConfiguration: { connection_info: { connection_string: { from_env: 'MY_MARIADB_URL' } } },
  tableName,
  functionName: tableName,
  namedWithin: (database) => ({ ...mariadb, tableName: tableNameWithin(database), functionName: tableNameWithin(database) }),
  capabilities,
  types,
  sqlText,
  metrics,
  migrations,
  console: consoleForm,
  diagnostics,
  errorCodes: { failed: 'database-error', noConnection: 'database-error' },
  // Other unnamed keys get the name of their first column, which is meaningful.
  isMadeUpConstraint: (name) => name === 'PRIMARY',
  compiler,
  connect,
};
