import type { Source } from '../backend/backend.ts';
import type { Config } from '../config/options.ts';
import { postgresql } from '../databases/postgresql/index.ts';
import type { Observer } from '../observability/observation.ts';
import { parseJson } from '../util/json.ts';
import { ROOT } from '../util/path.ts';
import { codesOf, type DatabaseOptions, metadataDatabaseFailure } from './metadata-database-failure.ts';

const METADATA_POOL = 5;
const RETRY_PAUSE_MS = 1000;

export type MetadataDatabaseConfig = DatabaseOptions &
  Pick<Config, 'retries' | 'usePreparedStatements' | 'dynamicSecretsAllowedPathPrefix'>;

/** True if the server rejected the credentials (SQLSTATE class 28), so that a retry would not help. */
function isRefused(error: unknown): boolean {
  return codesOf(error).some((code) => /^28\w{3}$/.test(code));
}

/**
 * Connects to the metadata database, with `--retries` further attempts.
 * @throws SvcError `postgres-error` if it cannot be reached
 */
export async function openMetadataDatabase(config: MetadataDatabaseConfig, url: string, observe: Observer): Promise<Source> {
  const configuration = postgresql.configuration.decode(parseJson(JSON.stringify({ connection_info: { database_url: url } })), ROOT);
  for (let attempt = 0; ; attempt++) {
    try {
      return await postgresql.connect(configuration, {
        sourceName: 'metadata',
        environment: {},
        secretsFolder: config.dynamicSecretsAllowedPathPrefix,
        usePreparedStatements: config.usePreparedStatements,
        maxConnections: METADATA_POOL,
        onEvent: (event) => observe({ kind: 'source', source: 'metadata', event: event.kind, message: event.message }),
      });
    } catch (error) {
      const failure = metadataDatabaseFailure(error, url, config);
      if (attempt >= config.retries || isRefused(error)) throw failure;
      observe({
        kind: 'source',
        source: 'metadata',
        event: 'unreachable',
        message: `${failure.message} Trying again (${attempt + 1} of ${config.retries}).`,
      });
      await new Promise((resolve) => setTimeout(resolve, RETRY_PAUSE_MS));
    }
  }
}
