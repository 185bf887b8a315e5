/** From a source's configuration to an open source. */
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import pg from 'pg';
import type { ConnectContext } from '../../backend/backend.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { fillTemplate } from '../../metadata/environment-template.ts';
import {
  type ConnectionConfiguration,
  type DatabaseUrl,
  type FromEnvironment,
  type PgConfiguration,
  SSL_MODES,
  type SslConfiguration,
  type SslMode,
} from './configuration.ts';
import type { Step } from './driver/exchange.ts';
import { createClientOpener, createOpener, type Target } from './driver/open-session.ts';
import { Pool } from './driver/pool.ts';
import { connectionError, statementError } from './errors.ts';
import { listen } from './listen.ts';
import { Replicas, type Server } from './replicas.ts';
import { type IsolationLevel, PgSource } from './source.ts';

const CONNECT_TIMEOUT_MS = 10_000;
const DEFAULTS = { idleTimeoutMs: 180_000, retries: 1, lifetimeMs: 600_000 };

type Environment = ConnectContext['environment'];

/**
 * Throws `SvcError`: `not-found` for missing environment variables, `postgres-error` when the database cannot be reached,
 * `not-exists` for a schema of extensions that is not there.
 */
export async function connect(configuration: PgConfiguration, context: ConnectContext): Promise<PgSource> {
  const onEvent = (kind: string, message: string): void => context.onEvent?.({ kind, message });
  const { extensionsSchema } = configuration;
  const { target, ...primary } = serverOf(configuration, extensionsSchema, context, onEvent);
  const replicas = new Replicas(
    configuration.readReplicas.map((replica, i) =>
      serverOf(replica, extensionsSchema, context, (kind, message) => onEvent(kind, `read replica ${i + 1}: ${message}`)),
    ),
  );
  try {
    await primary.pool.start();
  } catch (failure) {
    throw statementError(failure, { text: '', values: [], prepared: false });
  }
  const options = {
    primary,
    replicas,
    retries: configuration.pool?.retries ?? DEFAULTS.retries,
    isolation: configuration.isolationLevel ?? context.isolation ?? 'read-committed',
    listenOn: (channel: string, onMessage: (payload: string | null) => void) =>
      listen({ open: createClientOpener(target), channel, onMessage, onEvent }),
  };
  const source = new PgSource({ ...options, serverIsolation: 'read-committed' });
  try {
    const found = await source.query("select current_setting('default_transaction_isolation'), to_regnamespace(quote_ident($1))", [
      extensionsSchema,
    ]);
    const [isolation, schema] = found.rows[0] ?? [];
    // Nobody asked for the default one; a database may do without it.
    if (schema === null && extensionsSchema !== 'public') {
      throw new SvcError('not-exists', `the schema "${extensionsSchema}" of extensions_schema does not exist in the database`);
    }
    await replicas.start();
    const serverIsolation = isolation?.replace(' ', '-') as IsolationLevel;
    return new PgSource({ ...options, serverIsolation });
  } catch (error) {
    await source.close();
    throw error;
  }
}

/** A server's pool, without any connection yet. @throws SvcError for missing environment variables and wrong URLs */
function serverOf(
  configuration: ConnectionConfiguration,
  extensionsSchema: string,
  context: ConnectContext,
  onEvent: (kind: string, message: string) => void,
): Server & { readonly target: Target } {
  const { client, ssl: urlSsl } = clientConfig(configuration.databaseUrl, context.environment);
  const prepare = configuration.usePreparedStatements ?? context.usePreparedStatements;
  const extensions = extensionsStep(extensionsSchema, prepare);
  const ssl = configuration.ssl === undefined ? urlSsl : sslFromEnvironment(configuration.ssl, context.environment);
  const target: Target = { client, ssl: sslAttempts(ssl, resolvedHost(client)), prepare, setup: prepare ? extensions : null };
  const own = configuration.pool;
  const lifetimeMs = milliseconds(own?.connection_lifetime) ?? context.lifetimeMs ?? DEFAULTS.lifetimeMs;
  const pool = new Pool(
    createOpener(target),
    {
      maxConnections: own?.max_connections ?? context.maxConnections,
      idleTimeoutMs: milliseconds(own?.idle_timeout) ?? context.idleTimeoutMs ?? DEFAULTS.idleTimeoutMs,
      lifetimeMs: lifetimeMs === 0 ? Number.POSITIVE_INFINITY : lifetimeMs,
      waitTimeoutMs: milliseconds(own?.pool_timeout) ?? context.waitTimeoutMs ?? Number.POSITIVE_INFINITY,
      retries: own?.retries ?? DEFAULTS.retries,
    },
    onEvent,
  );
  return { pool, prepare, prelude: prepare ? null : extensions, target };
}

function milliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1_000;
}

/** Puts the schema of extensions at the end of the search path; a second time changes nothing. */
function extensionsStep(schema: string, session: boolean): Step | null {
  if (schema === 'public') return null;
  return {
    text: `select set_config('search_path', case when $1::text = any (current_schemas(true)::text[]) then current_setting('search_path')
      else concat_ws(', ', nullif(current_setting('search_path'), ''), quote_ident($1)) end, ${session ? 'false' : 'true'})`,
    values: [schema],
  };
}

interface SslSettings {
  readonly mode: SslMode | undefined;
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  readonly passphrase: string | undefined;
}

function clientConfig(url: DatabaseUrl, environment: Environment): { client: pg.ClientConfig; ssl: SslSettings } {
  const common = { keepAlive: true, fallback_application_name: 'svc-graphql' };
  if (url.kind === 'parameters') {
    const { host, username, port, database, password } = url.parameters;
    const client = {
      ...common,
      host,
      user: username,
      port,
      database,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      ...(password === undefined ? {} : { password }),
    };
    return { client, ssl: { mode: undefined, ca: undefined, cert: undefined, key: undefined, passphrase: undefined } };
  }
  const { text, parameters } = splitParameters(
    url.kind === 'environment' ? variable(url.name, environment) : expand(url.text, environment),
  );
  if (!text.startsWith('postgres://') && !text.startsWith('postgresql://'))
    throw invalidUrl('it does not begin with postgres:// or postgresql://');
  const take = (name: string): string | undefined => {
    const value = parameters.get(name) ?? undefined;
    parameters.delete(name);
    return value;
  };
  const timeout = Number(take('connect_timeout') ?? 0);
  const ssl: SslSettings = {
    mode: sslMode(take('sslmode'), take('ssl')),
    ca: certificateFile(take('sslrootcert')),
    cert: certificateFile(take('sslcert')),
    key: certificateFile(take('sslkey')),
    passphrase: take('sslpassword'),
  };
  const rest = parameters.toString();
  const connectionString = rest === '' ? text : `${text}?${rest}`;
  return { client: { ...common, connectionString, connectionTimeoutMillis: timeout > 0 ? timeout * 1_000 : CONNECT_TIMEOUT_MS }, ssl };
}

function splitParameters(url: string): { text: string; parameters: URLSearchParams } {
  const mark = url.indexOf('?');
  return mark < 0
    ? { text: url, parameters: new URLSearchParams() }
    : { text: url.slice(0, mark), parameters: new URLSearchParams(url.slice(mark + 1)) };
}

/** `pg` knows the defaults of a URL's parts. */
function resolvedHost(client: pg.ClientConfig): string {
  try {
    return new pg.Client(client).host;
  } catch (error) {
    throw invalidUrl(error instanceof Error ? error.message : String(error));
  }
}

function invalidUrl(reason: string): SvcError {
  return connectionError(new Error(`the database URL is not valid: ${reason}`));
}

function variable(name: string, environment: Environment): string {
  const value = environment[name];
  if (value === undefined) throw new SvcError('not-found', `environment variable '${name}' not set`);
  return value;
}

/** Replaces each `{{NAME}}`. */
function expand(template: string, environment: Environment): string {
  const filled = fillTemplate(template, environment);
  if ('text' in filled) return filled.text;
  throw new SvcError('not-found', `Value for environment variables not found: ${filled.missing.join(', ')}`);
}

function sslMode(mode: string | undefined, ssl: string | undefined): SslMode | undefined {
  if (mode === undefined) return ssl === 'true' || ssl === '1' ? 'require' : ssl === 'false' || ssl === '0' ? 'disable' : undefined;
  const known = SSL_MODES.find((name) => name === mode);
  if (known === undefined) throw invalidUrl(`unknown sslmode "${mode}"`);
  return known;
}

/** Files are named in URLs; `system` is the list that the runtime trusts. */
function certificateFile(path: string | undefined): string | undefined {
  if (path === undefined || path === 'system') return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw connectionError(error as Error);
  }
}

function sslFromEnvironment(configuration: SslConfiguration, environment: Environment): SslSettings {
  const value = (reference: FromEnvironment | undefined): string | undefined =>
    reference === undefined ? undefined : variable(reference.from_env, environment);
  return {
    mode: configuration.sslmode,
    ca: value(configuration.sslrootcert),
    cert: value(configuration.sslcert),
    key: value(configuration.sslkey),
    passphrase: value(configuration.sslpassword),
  };
}

/**
 * The meaning of `sslmode` in PostgreSQL's own client library. Without one, TLS is preferred; to a
 * server on the same machine it is only tried when the server insists on it.
 * https://www.postgresql.org/docs/current/libpq-ssl.html#LIBPQ-SSL-SSLMODE-STATEMENTS
 */
function sslAttempts(ssl: SslSettings, host: string): readonly (false | ConnectionOptions)[] {
  if (host.startsWith('/')) return [false];
  const identity: ConnectionOptions = {
    ...(ssl.ca === undefined ? {} : { ca: ssl.ca }),
    ...(ssl.cert === undefined ? {} : { cert: ssl.cert }),
    ...(ssl.key === undefined ? {} : { key: ssl.key }),
    ...(ssl.passphrase === undefined ? {} : { passphrase: ssl.passphrase }),
  };
  const encrypted = { ...identity, rejectUnauthorized: false };
  const trusted = { ...identity, rejectUnauthorized: true, checkServerIdentity: () => undefined };
  switch (ssl.mode) {
    case 'disable':
      return [false];
    case 'allow':
      return [false, encrypted];
    case 'prefer':
      return [encrypted, false];
    case 'require':
      return [ssl.ca === undefined ? encrypted : trusted];
    case 'verify-ca':
      return [trusted];
    case 'verify-full':
      return [{ ...identity, rejectUnauthorized: true }];
    case undefined:
      return host === 'localhost' || host === '::1' || host.startsWith('127.') ? [false, encrypted] : [encrypted, false];
  }
}
