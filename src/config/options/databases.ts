/** Sources, the metadata database, and connections to them. */
import { optionsOf } from '../option.ts';
import {
  absolutePath,
  boolean,
  choice,
  databaseName,
  integer,
  milliseconds,
  nonEmpty,
  optional,
  password,
  postgresUrl,
  seconds,
  text,
} from '../option-types.ts';

const databases = optionsOf('Databases');

export const databaseOptions = {
  databaseUrl: databases(
    'database-url',
    optional(postgresUrl),
    null,
    'PostgreSQL that becomes the source "default". Without this and without a metadata database, the embedded PostgreSQL provides both.',
  ),
  metadataDatabaseUrl: databases(
    'metadata-database-url',
    optional(postgresUrl),
    null,
    'PostgreSQL that keeps the metadata (schema svc_catalog). Absent: the one of --database-url.',
  ),
  host: databases(
    'host',
    optional(nonEmpty),
    null,
    'Host of the PostgreSQL of --database-url, or the folder of its socket, in place of that option; needs --user and --dbname too.',
    { env: null },
  ),
  port: databases('port', optional(integer(1, 65_535)), null, 'Port, with --host. Absent: 5432.', { env: null }),
  user: databases('user', optional(nonEmpty), null, 'User, with --host.', { short: 'u', env: null }),
  password: databases(
    'password',
    optional(password),
    null,
    'Password, with --host. Other users of the machine can see the flags of a process: the variable of --database-url is safer.',
    { short: 'p', env: null },
  ),
  dbname: databases('dbname', optional(databaseName), null, 'Name of the database, with --host.', { short: 'd', env: null }),
  pgConnectionOptions: databases(
    'pg-connection-options',
    optional(nonEmpty),
    null,
    'Settings of the server for each connection, with --host, such as "-c statement_timeout=10s".',
    { short: 'o', env: null },
  ),
  dynamicSecretsAllowedPathPrefix: databases(
    'dynamic-secrets-allowed-path-prefix',
    optional(absolutePath),
    null,
    'Folder below which database URLs may be read from files: "dynamic_from_file" in the metadata, and dynamic-from-file:///path for the URLs above. Another text in the file counts for connections that are opened from then on.',
  ),
  dataDir: databases('data-dir', text, '.svc', 'Folder of the embedded PostgreSQL, used only when no database URL is given.'),
  sampleData: databases(
    'sample-data',
    boolean,
    false,
    'Load the sample music store into the embedded PostgreSQL, when that is new, and track it.',
  ),
  retries: databases('retries', integer(0, 10_000), 60, 'How often to try again to reach the metadata database at start, a second apart.', {
    env: 'NO_OF_RETRIES',
  }),
  connections: databases('connections', integer(1, 10_000), 50, 'Most connections to one source, where its metadata says nothing else.', {
    short: 'c',
    env: 'PG_CONNECTIONS',
  }),
  stripes: databases(
    'stripes',
    integer(1, 1000),
    1,
    'Multiplies --connections: so many times as many connections to one source, where its metadata says nothing else.',
    { short: 's', env: 'PG_STRIPES' },
  ),
  timeout: databases('timeout', seconds(0), 180_000, 'Close a connection that was idle for so long.', { env: 'PG_TIMEOUT' }),
  connLifetime: databases('conn-lifetime', seconds(0), 600_000, 'Replace a connection of this age; 0 keeps it.', {
    env: 'PG_CONN_LIFETIME',
  }),
  poolTimeout: databases(
    'pool-timeout',
    seconds(0),
    30_000,
    'Longest wait for a free connection, before the request fails with status 503. Those who wait take turns by role.',
    { env: 'PG_POOL_TIMEOUT' },
  ),
  usePreparedStatements: databases(
    'use-prepared-statements',
    boolean,
    true,
    'Prepare statements on the connection; switch off behind a pooler that hands out transactions.',
  ),
  preparedStatementMemory: databases(
    'prepared-statement-memory',
    integer(0),
    33_554_432,
    'Most memory for the prepared statements of one connection, in bytes: estimated, in the database. A statement that would take more than an eighth of it is not prepared.',
  ),
  txIso: databases(
    'tx-iso',
    choice('read-committed', 'repeatable-read', 'serializable'),
    'read-committed',
    'Isolation level of transactions, where the metadata of the source says nothing else.',
    { short: 'i', env: 'TX_ISOLATION' },
  ),
  schemaSyncPollInterval: databases(
    'schema-sync-poll-interval',
    milliseconds(0),
    1000,
    'How often to look for metadata changes made by other instances, besides being told of them; 0 does not follow them at all.',
  ),
} as const;
