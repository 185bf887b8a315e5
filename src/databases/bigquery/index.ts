import type { Backend } from '../../backend/backend.ts';
import { capabilities } from './capabilities.ts';
import { compiler } from './compile/compiler.ts';
import { configuration, type BigQueryConfiguration } from './configuration.ts';
import { connect } from './connect.ts';
import { consoleForm } from './console.ts';
import { metrics } from './metrics.ts';
import { sqlText } from './sql-text.ts';
import { tableName } from './table-name.ts';
import type { BigQuerySource } from './source.ts';
import { types } from './types.ts';

export const bigquery: Backend<BigQueryConfiguration, BigQuerySource> = {
  kind: 'dwh',
  aliases: [],
  product: 'bigquery',
  defaultSchema: '',
  configuration,
  exampleConfiguration: {
    service_account: { from_env: 'MY_SERVICE_ACCOUNT' },
    project_id: 'my-project',
    datasets: 'shop',
    maximum_bytes_billed: 10_000_000_000,
  },
  exampleName: (name) => ({ dataset: 'shop', name }),
  tableName,
  functionName: tableName,
  functionsOfColumns: true,
  capabilities,
  types,
  sqlText,
  metrics,
  console: consoleForm,
  errorCodes: { failed: 'database-error', noConnection: 'database-error' },
  // Constraints do not matter for a read-only source.
  isMadeUpConstraint: () => false,
  compiler,
  connect,
};
