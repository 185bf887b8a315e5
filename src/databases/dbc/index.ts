import type { Backend } from '../../backend/backend.ts';
import { configuration, type PgConfiguration, storedConfiguration } from '../pg/configuration.ts';
import { pg } from '../pg/index.ts';
import { capabilities } from './capabilities.ts';
import { compiler } from './compile/compiler.ts';
import { connect } from './connect.ts';

/** Citus: PostgreSQL whose tables may be spread over servers. */
export const dbc: Backend<PgConfiguration> = {
  ...pg,
  kind: 'dbc',
  aliases: [],
  product: 'citus',
  configuration,
  storedConfiguration,
  exampleConfiguration: { connection_info: { database_url: { from_env: 'MY_CITUS_URL' } } },
  capabilities,
  compiler,
  connect,
};
