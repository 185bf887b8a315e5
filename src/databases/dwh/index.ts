import type { Backend } from '../../backend/backend.ts';
import { capabilities } from './capabilities.ts';
import { compiler } from './compile/compiler.ts';
import { configuration, type DwhConfiguration } from './configuration.ts';
import { connect } from './connect.ts';
import { tableName } from './table-name.ts';
import { types } from './types.ts';

/** BigQuery. */
export const dwh: Backend<DwhConfiguration> = {
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
  errorCodes: { failed: 'database-error', noConnection: 'database-error' },
  // Its constraints have no meaning here.
  isMadeUpConstraint: () => false,
  compiler,
  connect,
};
