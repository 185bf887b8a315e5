/** Configuration of a source, as in `dbb_add_source` and in exported metadata. */
import { type SslConfiguration, sslConfigurationCodec } from '../shared/connection-settings.ts';
import { intAtLeast, type Codec, leaf, nonEmptyText, object, optional, parseFailed, required, wrongType } from '../../metadata/codec.ts';
import type { ConfiguredText } from '../../metadata/environment-template.ts';
import { refuseUnknownKeys } from '../../metadata/unknown-keys.ts';
import { isJsonObject, type Json } from '../../util/json.ts';
import { at, type Path } from '../../util/path.ts';

/** Settings of the pool; times are in seconds. Missing settings default to those of the server. */
export interface PoolConfiguration {
  readonly max_connections?: number;
  readonly idle_timeout?: number;
  readonly pool_timeout?: number;
}

export const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const;

export type SslMode = (typeof SSL_MODES)[number];

export interface MariadbConfiguration {
  readonly connectionString: ConfiguredText;
  readonly pool: PoolConfiguration | undefined;
  readonly ssl: SslConfiguration<SslMode> | undefined;
}

const connectionString: Codec<ConfiguredText> = leaf(
  'ConnectionString',
  (json: Json, path: Path): ConfiguredText => {
    if (typeof json === 'string') return { kind: 'template', text: nonEmptyText.decode(json, path) };
    if (!isJsonObject(json)) throw wrongType('ConnectionString', 'String or Object', json, path);
    refuseUnknownKeys(json, path, { keys: ['from_env'] });
    const name = json['from_env'];
    if (name === undefined) throw parseFailed("the key 'from_env' was not present", path);
    return { kind: 'environment', name: nonEmptyText.decode(name, at(path, 'from_env')) };
  },
  (value): Json => (value.kind === 'template' ? value.text : { from_env: value.name }),
  { description: 'URL as a template, or `{"from_env": …}`.' },
);

const poolConfiguration: Codec<PoolConfiguration> = object('MariadbPoolSettings', {
  max_connections: optional(intAtLeast('max_connections', 1)),
  idle_timeout: optional(intAtLeast('idle_timeout', 1)),
  pool_timeout: optional(intAtLeast('pool_timeout', 0)),
});

const sslConfiguration = sslConfigurationCodec('MariadbSslConfiguration', SSL_MODES);

const document = object('MariadbConfiguration', {
  connection_info: required(
    object('MariadbConnectionInfo', {
      connection_string: required(connectionString),
      pool_settings: optional(poolConfiguration),
      ssl_configuration: optional(sslConfiguration),
    }),
  ),
});

export const configuration: Codec<MariadbConfiguration> = {
  name: document.name,
  fields: document.fields,
  decode(json, path) {
    const { connection_info: info } = document.decode(json, path);
    return { connectionString: info.connection_string, pool: info.pool_settings, ssl: info.ssl_configuration };
  },
  encode: ({ connectionString: text, pool, ssl }) =>
    document.encode({
      connection_info: {
        connection_string: text,
        ...(pool === undefined ? {} : { pool_settings: pool }),
        ...(ssl === undefined ? {} : { ssl_configuration: ssl }),
      },
    }),
};
