/** Opens a source from its configuration. */
import type { ConnectContext } from '../../backend/backend.ts';
import type { PostgresqlConfiguration } from '../postgresql/configuration.ts';
import { connect as connectPostgres } from '../postgresql/connect.ts';
import { CitusSource } from './source.ts';
import type { RunOptions } from '../../backend/connection.ts';

/** Opens a source. On a server without the extension all tables are local. @throws SvcError as for PostgreSQL */
export async function connect(
  configuration: PostgresqlConfiguration,
  context: ConnectContext,
  options: RunOptions = {},
): Promise<CitusSource> {
  // `spread`: otherwise the extension treats each statement of a mutation as a transaction, which workers commit before a rollback.
  return new CitusSource(await connectPostgres(configuration, context, options, true));
}
