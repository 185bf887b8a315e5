/** Configuration of a source in `pg_add_source` and in exported metadata. */
import { type SslConfiguration, sslConfigurationCodec } from '../shared/connection-settings.ts';
import {
  intAtLeast,
  bool,
  type Codec,
  defaulted,
  int,
  leaf,
  list,
  literal,
  nonEmptyText,
  object,
  optional,
  parseFailed,
  required,
  text,
  wrongType,
} from '../../metadata/codec.ts';
import type { ConfiguredText } from '../../metadata/environment-template.ts';
import { refuseUnknownKeys } from '../../metadata/unknown-keys.ts';
import { isJsonObject, type Json } from '../../util/json.ts';
import { at, type Path } from '../../util/path.ts';

export type DatabaseUrl =
  | ConfiguredText
  /** Read each time a connection is opened. */
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'parameters'; readonly parameters: ConnectionParameters };

export interface ConnectionParameters {
  readonly host: string;
  readonly username: string;
  readonly port: number;
  readonly database: string;
  readonly password?: string;
}

/** Durations are in seconds. Defaults to the options of the service. */
export interface PoolConfiguration {
  readonly max_connections?: number;
  readonly idle_timeout?: number;
  readonly retries?: number;
  readonly pool_timeout?: number;
  /** 0 for unlimited. */
  readonly connection_lifetime?: number;
}

export const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'] as const;
export type SslMode = (typeof SSL_MODES)[number];

/** Connection to one server. */
export interface ConnectionConfiguration {
  readonly databaseUrl: DatabaseUrl;
  readonly pool: PoolConfiguration | undefined;
  /** Defaults to the option of the service. */
  readonly usePreparedStatements: boolean | undefined;
  /** Defaults to the option of the service. */
  readonly isolationLevel: 'read-committed' | 'repeatable-read' | 'serializable' | undefined;
  readonly ssl: SslConfiguration<SslMode> | undefined;
  /** Keeps the database's setting of `jit`. Default false: just-in-time compilation is off. */
  readonly jit: boolean | undefined;
  /** In seconds; 0 keeps the database's setting. Default: somewhat longer than the time limit of requests. */
  readonly statementTimeout: number | undefined;
}

export interface PostgresqlConfiguration extends ConnectionConfiguration {
  /** Read replicas that answer queries. */
  readonly readReplicas: readonly ConnectionConfiguration[];
  /** Schema of the functions and types of extensions, which is added to the search path. */
  readonly extensionsSchema: string;
  /** True if the database sends notifications of new events, which are otherwise polled. Default true. */
  readonly eventNotifications?: boolean | undefined;
}

const connectionParameters: Codec<ConnectionParameters> = object('PostgresConnDetailsRaw', {
  host: required(text),
  username: required(text),
  port: required(int),
  database: required(text),
  password: optional(text),
});

const databaseUrl: Codec<DatabaseUrl> = leaf(
  'UrlConf',
  decodeUrl,
  (url): Json => {
    switch (url.kind) {
      case 'template':
        return url.text;
      case 'environment':
        return { from_env: url.name };
      case 'file':
        return { dynamic_from_file: url.path };
      case 'parameters':
        return { connection_parameters: connectionParameters.encode(url.parameters) };
    }
  },
  {
    description: 'A URL, which is a template; or an object with one of `from_env`, `connection_parameters` and `dynamic_from_file`.',
    of: [connectionParameters],
  },
);

const URL_FORMS = { keys: ['from_env', 'connection_parameters', 'dynamic_from_file'] };

function decodeUrl(json: Json, path: Path): DatabaseUrl {
  if (typeof json === 'string') return { kind: 'template', text: nonEmptyText.decode(json, path) };
  if (!isJsonObject(json)) throw wrongType('UrlConf', 'String or Object', json, path);
  refuseUnknownKeys(json, path, URL_FORMS);
  const present = (key: string): Json | undefined => (json[key] === null ? undefined : json[key]);
  const file = present('dynamic_from_file');
  if (file !== undefined) {
    for (const other of ['from_env', 'connection_parameters'])
      if (present(other) !== undefined) throw parseFailed(`"dynamic_from_file" stands alone, without "${other}"`, path);
    return { kind: 'file', path: nonEmptyText.decode(file, at(path, 'dynamic_from_file')) };
  }
  const name = present('from_env');
  const parameters = present('connection_parameters');
  if (name !== undefined && parameters !== undefined)
    throw parseFailed('Only one of "from_env" or "connection_parameters" should be provided', path);
  if (name !== undefined) return { kind: 'environment', name: nonEmptyText.decode(name, at(path, 'from_env')) };
  if (parameters !== undefined)
    return { kind: 'parameters', parameters: connectionParameters.decode(parameters, at(path, 'connection_parameters')) };
  throw parseFailed('Either "from_env" or "connection_parameters" should be provided', path);
}

const poolConfiguration: Codec<PoolConfiguration> = object(
  'PostgresPoolSettings',
  {
    max_connections: optional(intAtLeast('max_connections', 1)),
    idle_timeout: optional(intAtLeast('idle_timeout', 0)),
    retries: optional(intAtLeast('retries', 0)),
    pool_timeout: optional(intAtLeast('pool_timeout', 0)),
    connection_lifetime: optional(intAtLeast('connection_lifetime', 0)),
  },
  { notSupported: ['total_max_connections'] },
);

const sslConfiguration = sslConfigurationCodec('PGClientCerts', SSL_MODES);

const connectionDocument = object('PostgresSourceConnInfo', {
  database_url: required(databaseUrl),
  pool_settings: optional(poolConfiguration),
  use_prepared_statements: optional(bool),
  isolation_level: optional(literal('IsolationLevel', ['read-committed', 'repeatable-read', 'serializable'] as const)),
  ssl_configuration: optional(sslConfiguration),
  jit: optional(bool),
  statement_timeout: optional(intAtLeast('statement_timeout', 0)),
});

const connectionInfo: Codec<ConnectionConfiguration> = {
  name: connectionDocument.name,
  fields: connectionDocument.fields,
  decode(json, path) {
    const info = connectionDocument.decode(json, path);
    return {
      databaseUrl: info.database_url,
      pool: info.pool_settings,
      usePreparedStatements: info.use_prepared_statements,
      isolationLevel: info.isolation_level,
      ssl: info.ssl_configuration,
      jit: info.jit,
      statementTimeout: info.statement_timeout,
    };
  },
  encode: (value) =>
    connectionDocument.encode({
      database_url: value.databaseUrl,
      pool_settings: value.pool,
      use_prepared_statements: value.usePreparedStatements,
      isolation_level: value.isolationLevel,
      ssl_configuration: value.ssl,
      jit: value.jit,
      statement_timeout: value.statementTimeout,
    }),
};

const document = object(
  'PostgresConnConfiguration',
  {
    connection_info: required(connectionInfo),
    read_replicas: optional(list(connectionInfo)),
    extensions_schema: defaulted(
      nonEmptyText,
      () => 'public',
      (schema) => schema === 'public',
    ),
    event_notifications: optional(bool),
  },
  { notSupported: ['connection_template', 'connection_set'] },
);

export const configuration: Codec<PostgresqlConfiguration> = {
  name: document.name,
  fields: document.fields,
  decode(json, path) {
    const {
      connection_info: connection,
      read_replicas: readReplicas = [],
      extensions_schema: extensionsSchema,
      event_notifications: eventNotifications,
    } = document.decode(json, path);
    return { ...connection, readReplicas, extensionsSchema, ...(eventNotifications === undefined ? {} : { eventNotifications }) };
  },
  // Exported documents always have the two defaults below.
  encode: (value) =>
    encode({
      ...withDefaults(value),
      readReplicas: value.readReplicas.map(withDefaults),
      extensionsSchema: value.extensionsSchema,
      eventNotifications: value.eventNotifications,
    }),
};

function withDefaults(value: ConnectionConfiguration): ConnectionConfiguration {
  return {
    databaseUrl: value.databaseUrl,
    pool: value.pool,
    usePreparedStatements: value.usePreparedStatements ?? true,
    isolationLevel: value.isolationLevel ?? 'read-committed',
    ssl: value.ssl,
    jit: value.jit,
    statementTimeout: value.statementTimeout,
  };
}

/** Stores no defaults, so that a source follows the options of the service after a restart. */
export const storedConfiguration: Codec<PostgresqlConfiguration> = { ...configuration, encode };

function encode(value: PostgresqlConfiguration): Json {
  return document.encode({
    connection_info: value,
    read_replicas: value.readReplicas.length === 0 ? undefined : value.readReplicas,
    extensions_schema: value.extensionsSchema,
    event_notifications: value.eventNotifications,
  });
}
