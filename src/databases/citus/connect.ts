/** From a source's configuration to an open source. */
import type { ConnectContext } from '../../backend/backend.ts';
import type { PostgresqlConfiguration } from '../postgresql/configuration.ts';
import { connect as connectPostgres } from '../postgresql/connect.ts';
import { CitusSource } from './source.ts';
import type { RunOptions } from '../../backend/connection.ts';

/** Throws `SvcError` as that of PostgreSQL. A server without the extension is one whose tables are all local. */
export async function connect(configuration: PostgresqlConfiguration, context: ConnectContext, how: RunOptions = {}): Promise<CitusSource> {
  // Else the extension takes each statement of a mutation for a transaction, and commits on a worker what may be taken back.
  return new CitusSource(await connectPostgres(configuration, context, how, true));
}
