import type { Backend } from '../../backend/backend.ts';
import { configuration, type PgConfiguration, storedConfiguration } from '../pg/configuration.ts';
import { pg } from '../pg/index.ts';
import { capabilities } from './capabilities.ts';
import { compiler } from './compile/compiler.ts';
import { connect } from './connect.ts';
import { areJoined } from './joins.ts';

/** Functions of the extension that put tables elsewhere. */
const MOVES_TABLES =
  /\b(?:(?:create|alter)_distributed_table(?:_concurrently)?|undistribute_table|create_reference_table|update_distributed_table_colocation|mark_tables_colocated|citus_add_local_table_to_metadata|remove_local_tables_from_metadata|citus_schema_(?:un)?distribute)\b/i;

/** Citus: PostgreSQL whose tables may be spread over servers. */
export const dbc: Backend<PgConfiguration> = {
  ...pg,
  kind: 'dbc',
  aliases: [],
  product: 'citus',
  configuration,
  storedConfiguration,
  exampleConfiguration: { connection_info: { database_url: { from_env: 'MY_CITUS_URL' } } },
  types: { ...pg.types, joins: areJoined },
  capabilities,
  changesCatalog: MOVES_TABLES,
  compiler,
  connect,
};
