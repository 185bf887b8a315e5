/** From a source's configuration to an open source. */
import type { ConnectContext, RunOptions } from '../../backend/backend.ts';
import type { PgConfiguration } from '../pg/configuration.ts';
import { connect as connectPostgres } from '../pg/connect.ts';
import { DbcSource } from './source.ts';

/** Throws `SvcError` as that of PostgreSQL. A server without the extension is one whose tables are all local. */
export async function connect(configuration: PgConfiguration, context: ConnectContext, how: RunOptions = {}): Promise<DbcSource> {
  // Else the extension takes each statement of a mutation for a transaction, and commits on a worker what may be taken back.
  return new DbcSource(await connectPostgres(configuration, context, how, true));
}
