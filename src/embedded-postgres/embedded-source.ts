import { join, resolve } from 'node:path';
import pg from 'pg';
import { ConfigError } from '../config/config-error.ts';
import type { Config } from '../config/options.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { loadSampleData } from './sample-data.ts';

/** Databases of the embedded cluster: the metadata database, and the source `default`. */
const METADATA_DATABASE = 'svc_metadata';
const DEFAULT_DATABASE = 'svc_data';

/** Range of PostgreSQL's `max_connections`. */
const MOST_CONNECTIONS = 262_143;

export interface ProvidedDatabases {
  /** The source `default`; `null` if only a metadata database was configured. */
  readonly databaseUrl: string | null;
  readonly metadataDatabaseUrl: string;
  /** The source `default` contains the sample data, which can be tracked. */
  readonly hasSampleData: boolean;
  /** Stops the embedded PostgreSQL, if it runs. Must be called last. */
  stop(): Promise<void>;
}

/** Requested folder of the embedded PostgreSQL. */
export function clusterFolder(dataDir: string): string {
  return join(resolve(dataDir), 'postgres');
}

/**
 * Returns the configured databases or, if there are none, the embedded PostgreSQL with one database for the source and one for the metadata.
 * @throws ConfigError for contradictory settings, Error if the embedded PostgreSQL cannot start
 */
export async function provideDatabases(
  config: Pick<Config, 'databaseUrl' | 'metadataDatabaseUrl' | 'dataDir' | 'sampleData' | 'connections' | 'stripes'>,
  log: (message: string) => void,
): Promise<ProvidedDatabases> {
  const metadataDatabaseUrl = config.metadataDatabaseUrl ?? config.databaseUrl;
  if (metadataDatabaseUrl !== null) {
    if (config.sampleData)
      throw new ConfigError('--sample-data needs the embedded PostgreSQL, which is not used when a database URL is given');
    return { databaseUrl: config.databaseUrl, metadataDatabaseUrl, hasSampleData: false, stop: async () => undefined };
  }
  const cluster = await startCluster({
    dataDirectory: clusterFolder(config.dataDir),
    log,
    settings: {
      // one pool for the source, one for the metadata, some connections for users
      max_connections: String(Math.min(2 * config.connections * config.stripes + 20, MOST_CONNECTIONS)),
      password_encryption: 'scram-sha-256',
    },
  });
  try {
    await makeDatabases(cluster);
    const databaseUrl = cluster.url(DEFAULT_DATABASE);
    if (config.sampleData) await loadSampleData(databaseUrl);
    return {
      databaseUrl,
      metadataDatabaseUrl: cluster.url(METADATA_DATABASE),
      hasSampleData: config.sampleData,
      stop: () => cluster.stop(),
    };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

async function makeDatabases(cluster: Cluster): Promise<void> {
  const client = new pg.Client(cluster.connectionConfig());
  await client.connect();
  try {
    const { rows } = await client.query<{ datname: string }>('select datname from pg_database');
    const existing = new Set(rows.map(({ datname }) => datname));
    for (const name of [METADATA_DATABASE, DEFAULT_DATABASE]) {
      if (!existing.has(name)) await client.query(`create database ${pg.escapeIdentifier(name)}`);
    }
  } finally {
    await client.end();
  }
}
