/** Sources, the metadata database, and connections to them. */
import { optionsOf } from '../option.ts';
import {
  absolutePath,
  boolean,
  choice,
  databaseName,
  wholeNumber,
  milliseconds,
  nonEmpty,
  orNull,
  password,
  postgresUrl,
  seconds,
  anyText,
} from '../option-types.ts';

const databases = optionsOf('Databases');

export const databaseOptions = {
  databaseUrl: databases(
    'database-url',
    orNull(postgresUrl),
    null,
    'PostgreSQL URL of the source "default". If neither this nor --metadata-database-url is set, the embedded PostgreSQL provides both databases.',
  ),
  metadataDatabaseUrl: databases(
    'metadata-database-url',
    orNull(postgresUrl),
    null,
    'PostgreSQL URL of the metadata database, which has the schema svc_catalog. Defaults to --database-url.',
  ),
  host: databases(
    'host',
    orNull(nonEmpty),
    null,
    'Host of the PostgreSQL server, or the folder of its socket, instead of --database-url. Needs --user and --dbname.',
    { env: null },
  ),
  port: databases('port', orNull(wholeNumber(1, 65_535)), null, 'Port of the PostgreSQL server, with --host. Defaults to 5432.', {
    env: null,
  }),
  user: databases('user', orNull(nonEmpty), null, 'User of the PostgreSQL server, with --host.', { short: 'u', env: null }),
  password: databases(
    'password',
    orNull(password),
    null,
    'Password, with --host. Other users of the host can see the flags of a process; the environment variable of --database-url is safer.',
    { short: 'p', env: null },
  ),
  dbname: databases('dbname', orNull(databaseName), null, 'Name of the database, with --host.', { short: 'd', env: null }),
  pgConnectionOptions: databases(
    'pg-connection-options',
    orNull(nonEmpty),
    null,
    'Server settings of each connection, with --host. Example: "-c statement_timeout=10s".',
    { short: 'o', env: null },
  ),
  dynamicSecretsAllowedPathPrefix: databases(
    'dynamic-secrets-allowed-path-prefix',
    orNull(absolutePath),
    null,
    'Folder from which database URLs may be read: "dynamic_from_file" in the metadata, dynamic-from-file:///path in the URLs above. A change of a file applies to connections that are opened afterwards.',
  ),
  dataDir: databases('data-dir', anyText, '.svc', 'Data folder of the embedded PostgreSQL, which is used if no database URL is set.'),
  sampleData: databases('sample-data', boolean, false, 'Load and track the sample music store, if the embedded PostgreSQL is new.'),
  retries: databases(
    'retries',
    wholeNumber(0, 10_000),
    60,
    'Number of retries to connect to the metadata database at the start, one per second.',
    {
      env: 'NO_OF_RETRIES',
    },
  ),
  connections: databases(
    'connections',
    wholeNumber(1, 10_000),
    50,
    'Maximum number of connections to a source, unless its metadata sets it.',
    {
      short: 'c',
      env: 'PG_CONNECTIONS',
    },
  ),
  stripes: databases(
    'stripes',
    wholeNumber(1, 1000),
    1,
    'Factor for --connections. A source has at most --connections x --stripes connections, unless its metadata sets the maximum.',
    { short: 's', env: 'PG_STRIPES' },
  ),
  timeout: databases('timeout', seconds(0), 180_000, 'Time after which an idle connection is closed, in seconds.', { env: 'PG_TIMEOUT' }),
  connLifetime: databases('conn-lifetime', seconds(0), 600_000, 'Maximum age of a connection, in seconds; 0 means no limit.', {
    env: 'PG_CONN_LIFETIME',
  }),
  poolTimeout: databases(
    'pool-timeout',
    seconds(0),
    30_000,
    'Timeout for a free connection, in seconds. After it, the request fails with status 503. Waiting requests are served in turn by role.',
    { env: 'PG_POOL_TIMEOUT' },
  ),
  usePreparedStatements: databases(
    'use-prepared-statements',
    boolean,
    true,
    'Use prepared statements. Disable it behind a connection pooler in transaction mode.',
  ),
  preparedStatementMemory: databases(
    'prepared-statement-memory',
    wholeNumber(0),
    33_554_432,
    'Maximum memory of the database for prepared statements per connection, in bytes. The memory is estimated; a statement that would need more than an eighth of it is not prepared.',
  ),
  txIso: databases(
    'tx-iso',
    choice('read-committed', 'repeatable-read', 'serializable'),
    'read-committed',
    'Isolation level of transactions, unless the metadata of the source sets it.',
    { short: 'i', env: 'TX_ISOLATION' },
  ),
  schemaSyncPollInterval: databases(
    'schema-sync-poll-interval',
    milliseconds(0),
    1000,
    'Interval for polling metadata changes of other instances, in milliseconds. Instances also notify each other. 0 disables both.',
  ),
} as const;
