import { describe, expect, it } from 'vitest';
import type { SvcError } from '../../errors/svc-error.ts';
import type { Json } from '../../util/json.ts';
import { at, ROOT } from '../../util/path.ts';
import { configuration } from './configuration.ts';
import { connect } from './connect.ts';

const FULL = {
  connection_info: {
    database_url: { from_env: 'URL' },
    pool_settings: { max_connections: 5, idle_timeout: 30, retries: 0, pool_timeout: 2, connection_lifetime: 0 },
    use_prepared_statements: false,
    isolation_level: 'serializable',
    ssl_configuration: { sslmode: 'verify-ca', sslrootcert: { from_env: 'CA' }, sslkey: { from_env: 'KEY' } },
  },
  extensions_schema: 'ext',
};

function roundTrip(json: Json): Json {
  return configuration.encode(configuration.decode(json, ROOT));
}

function fails(json: Json): { code: string; path: string; message: string } {
  try {
    configuration.decode(json, at(ROOT, 'configuration'));
  } catch (error) {
    const { code, printedPath, message } = error as SvcError;
    return { code, path: printedPath, message };
  }
  return expect.fail('it did not fail');
}

const info = (fields: Json & object): Json => ({ connection_info: { database_url: 'postgres://h/d', ...fields } as Json });

describe('the configuration of a source', () => {
  it('exports a configuration as it was set', () => {
    expect(roundTrip(FULL)).toEqual(FULL);
  });

  it('exports required keys, but no nulls and defaults', () => {
    const given = {
      connection_info: {
        database_url: 'postgres://{{HOST}}/db',
        pool_settings: { retries: null, max_connections: 2 },
        ssl_configuration: null,
      },
      extensions_schema: 'public',
      read_replicas: [],
    };
    expect(roundTrip(given)).toEqual({
      connection_info: {
        database_url: 'postgres://{{HOST}}/db',
        pool_settings: { max_connections: 2 },
        use_prepared_statements: true,
        isolation_level: 'read-committed',
      },
    });
    expect(configuration.decode(given, ROOT).usePreparedStatements).toBeUndefined();
  });

  it('exports connections of replicas', () => {
    const replica = { database_url: { from_env: 'COPY' }, use_prepared_statements: false, isolation_level: 'serializable' };
    const given = {
      connection_info: { database_url: 'postgres://db', use_prepared_statements: true, isolation_level: 'read-committed' },
      read_replicas: [replica],
    };
    expect(roundTrip(given)).toEqual(given);
  });

  it('reads a URL in parts', () => {
    const parts = { host: 'h', username: 'u', port: 5432, database: 'd' };
    const json = info({ database_url: { connection_parameters: { ...parts, password: null } } });
    expect(roundTrip(json)).toMatchObject({ connection_info: { database_url: { connection_parameters: parts } } });
  });

  it.each([
    [{}, 'parse-failed', '$.configuration', "the key 'connection_info' was not present"],
    [{ connection_info: {} }, 'parse-failed', '$.configuration.connection_info', "the key 'database_url' was not present"],
    [
      info({ database_url: 3 }),
      'parse-failed',
      '$.configuration.connection_info.database_url',
      'parsing UrlConf failed, expected String or Object, but encountered Number',
    ],
    [info({ database_url: '' }), 'parse-failed', '$.configuration.connection_info.database_url', 'empty string not allowed'],
    [
      info({ database_url: {} }),
      'parse-failed',
      '$.configuration.connection_info.database_url',
      'Either "from_env" or "connection_parameters" should be provided',
    ],
    [
      info({ database_url: { from_env: 'A', connection_parameters: {} } }),
      'parse-failed',
      '$.configuration.connection_info.database_url',
      'Only one of "from_env" or "connection_parameters" should be provided',
    ],
    [
      info({ database_url: { connection_parameters: { host: 'h', username: 'u', database: 'd' } } }),
      'parse-failed',
      '$.configuration.connection_info.database_url.connection_parameters',
      "the key 'port' was not present",
    ],
    [
      info({ database_url: { dynamic_from_file: '/etc/x', from_env: 'X' } }),
      'parse-failed',
      '$.configuration.connection_info.database_url',
      '"dynamic_from_file" stands alone, without "from_env"',
    ],
    [
      info({ pool_settings: { max_connections: 0 } }),
      'parse-failed',
      '$.configuration.connection_info.pool_settings.max_connections',
      'max_connections must be at least 1, but it is 0',
    ],
    [
      info({ isolation_level: 'chaos' }),
      'parse-failed',
      '$.configuration.connection_info.isolation_level',
      expect.stringContaining('"chaos"'),
    ],
    [
      info({ ssl_configuration: {} }),
      'parse-failed',
      '$.configuration.connection_info.ssl_configuration',
      "the key 'sslmode' was not present",
    ],
    [
      { connection_info: { database_url: 'x' }, read_replicas: [{ database_url: 'y' }, {}] },
      'parse-failed',
      '$.configuration.read_replicas[1]',
      "the key 'database_url' was not present",
    ],
  ])('rejects the configuration %j', (json, code, path, message) => {
    expect(fails(json as Json)).toEqual({ code, path, message });
  });
});

describe('opening a source', () => {
  const open = async (json: Json, environment: Record<string, string> = {}): Promise<SvcError> =>
    connect(configuration.decode(json, ROOT), { sourceName: 's', environment, usePreparedStatements: true, maxConnections: 5 }).then(
      () => expect.fail('it did not fail'),
      (error) => error as SvcError,
    );

  it.each([
    [info({ database_url: { from_env: 'NO_URL' } }), "environment variable 'NO_URL' not set"],
    [info({ database_url: 'postgres://{{A}}:{{B}}@{{ A }}/{{C}}' }), 'Value for environment variables not found: A, C'],
    [info({ ssl_configuration: { sslmode: 'require', sslcert: { from_env: 'CERT' } } }), "environment variable 'CERT' not set"],
  ])('rejects missing environment variables: %j', async (json, message) => {
    expect(await open(json, { B: 'b' })).toMatchObject({ code: 'not-found', message });
  });

  it.each(['mysql://h/d', 'postgres://127.0.0.1:99999/x', 'postgres://127.0.0.1:1/x', 'postgres://127.0.0.1:1/x?sslmode=sure'])(
    'reports that it cannot connect to %s',
    async (url) => {
      const error = await open(info({ database_url: url }));
      expect(error).toMatchObject({ code: 'postgres-error', message: 'connection error', status: 500 });
      expect(error.internal).toEqual(expect.stringMatching(/.{5}/));
    },
  );
});
