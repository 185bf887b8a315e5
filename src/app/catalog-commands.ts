/** `svc export` and `svc clean`: work on the metadata database without a running service. */
import type { Source } from '../backend/backend.ts';
import { ConfigError } from '../config/config-error.ts';
import type { Config } from '../config/options.ts';
import { backends } from '../databases/index.ts';
import { SvcError } from '../errors/svc-error.ts';
import { kindsOf } from '../metadata/kinds.ts';
import { metadataCodec } from '../metadata/metadata.ts';
import type { Observer } from '../observability/observation.ts';
import { hasCatalog } from '../metadata-store/migrations.ts';
import { removeCatalog } from '../metadata-store/remove-catalog.ts';
import { createStorage } from '../metadata-store/storage.ts';
import type { Json } from '../util/json.ts';
import { hasCluster } from '../embedded-postgres/place.ts';
import { clusterFolder, provideDatabases } from '../embedded-postgres/embedded-source.ts';
import { openMetadataDatabase } from './metadata-database.ts';

/**
 * Returns the stored metadata and its version, as the metadata API exports them. Does not change the database, not even the catalog of
 * an older service.
 * @throws SvcError `not-exists` if nothing is stored, `not-supported` if the catalog requires a newer service
 */
export function exportMetadata(config: Config, observe: Observer): Promise<Json> {
  return withMetadataDatabase(config, observe, async (database) => {
    if (!(await hasCatalog(database))) throw new SvcError('not-exists', 'the database holds no metadata: it has no schema svc_catalog');
    const kinds = kindsOf(backends);
    const { resourceVersion, metadata } = await createStorage(database, kinds).load();
    return { resource_version: resourceVersion, metadata: metadataCodec(kinds).encode(metadata) };
  });
}

/** Removes the schema `svc_catalog` from the metadata database. @returns false if it did not exist */
export function cleanMetadata(config: Config, observe: Observer): Promise<boolean> {
  return withMetadataDatabase(config, observe, removeCatalog);
}

async function withMetadataDatabase<T>(config: Config, observe: Observer, use: (database: Source) => Promise<T>): Promise<T> {
  const isEmbedded = config.metadataDatabaseUrl === null && config.databaseUrl === null;
  if (isEmbedded && !hasCluster(clusterFolder(config.dataDir))) {
    throw new ConfigError(
      'there is no metadata database: neither --metadata-database-url nor --database-url is given, nor is there any in --data-dir',
    );
  }
  const log = (message: string): void => observe({ kind: 'startup', message: 'embedded_postgres', info: { message } });
  const databases = await provideDatabases({ ...config, sampleData: false }, log);
  try {
    const database = await openMetadataDatabase(config, databases.metadataDatabaseUrl, observe);
    try {
      return await use(database);
    } finally {
      await database.close();
    }
  } finally {
    await databases.stop();
  }
}
