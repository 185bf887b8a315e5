import type { Backend } from '../../backend/backend.ts';
import { capabilities } from './capabilities.ts';
import { compiler } from './compile/compiler.ts';
import { configuration, type DbbConfiguration } from './configuration.ts';
import { connect } from './connect.ts';
import { tableName } from './table-name.ts';
import { types } from './types.ts';

/** MariaDB. */
export const dbb: Backend<DbbConfiguration> = {
  kind: 'dbb',
  aliases: [],
  product: 'mariadb',
  defaultSchema: '',
  configuration,
  exampleConfiguration: { connection_info: { connection_string: { from_env: 'MY_MARIADB_URL' } } },
  tableName,
  functionName: tableName,
  capabilities,
  types,
  errorCodes: { failed: 'database-error', noConnection: 'database-error' },
  // A key that is given no name has that of its first column, which says something.
  isMadeUpConstraint: (name) => name === 'PRIMARY',
  compiler,
  connect,
};
