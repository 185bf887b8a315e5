import type { Source } from '../backend/backend.ts';
import type { Kinds } from '../metadata/kinds.ts';
import { createStorage, type Storage } from '../metadata-store/storage.ts';
import type { Observer } from '../observability/observation.ts';
import { type MetadataDatabaseConfig, openMetadataDatabase } from './metadata-database.ts';

export interface MetadataStore {
  /** Connections to the metadata database. */
  readonly database: Source;
  readonly storage: Storage;
}

/**
 * Connects to the metadata database and brings its schema `svc_catalog` up to date.
 * @throws SvcError if the database cannot be reached or belongs to a newer service
 */
export async function openMetadataStore(
  config: MetadataDatabaseConfig,
  url: string,
  kinds: Kinds,
  observe: Observer,
): Promise<MetadataStore> {
  const database = await openMetadataDatabase(config, url, observe);
  const storage = createStorage(database, kinds, {
    warn: (message) => observe({ kind: 'source', source: 'metadata', event: 'number-beyond-bounds', message }),
  });
  try {
    await storage.migrate();
  } catch (error) {
    await database.close();
    throw error;
  }
  return { database, storage };
}
