/** Where and how connections are opened: what URLs and settings of TLS mean. */
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import pg from 'pg';
import type { ConnectContext } from '../../backend/backend.ts';
import { connectionText, sslSettings, type SslSettings, tlsIdentity } from '../shared/connection-settings.ts';
import type { SvcError } from '../../errors/svc-error.ts';
import { type ConnectionConfiguration, type ConnectionParameters, SSL_MODES, type SslMode } from './configuration.ts';
import type { ConnectionTarget } from './driver/open-session.ts';
import { connectionError } from './errors.ts';
import { fileOfUrl, readUrlFile } from './url-file.ts';

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Where to connect to: found once, or again whenever the file has another text that the URL is read from.
 * @returns throws SvcError for missing environment variables, wrong URLs and files that cannot be read
 */
export function targetOf(
  { databaseUrl, ssl }: ConnectionConfiguration,
  { environment, secretsFolder = null }: ConnectContext,
  session: Pick<ConnectionTarget, 'prepare' | 'preparedMemory' | 'setup'>,
): () => ConnectionTarget {
  const targetAt = ({ client, ssl: urlSsl }: ClientConfig): ConnectionTarget => {
    const settings = ssl === undefined ? urlSsl : sslSettings(ssl, environment);
    return { client, ssl: sslAttempts(settings, resolvedHost(client)), ...session };
  };
  if (databaseUrl.kind === 'parameters') {
    const target = targetAt(parametersConfig(databaseUrl.parameters));
    return () => target;
  }
  const text = databaseUrl.kind === 'file' ? '' : connectionText(databaseUrl, environment);
  const file = databaseUrl.kind === 'file' ? databaseUrl.path : fileOfUrl(text);
  if (file === null) {
    const target = targetAt(urlConfig(text));
    return () => target;
  }
  let known: { readonly text: string; readonly target: ConnectionTarget } | undefined;
  return () => {
    const now = readUrlFile(file, secretsFolder);
    if (known === undefined || known.text !== now) known = { text: now, target: targetAt(urlConfig(now)) };
    return known.target;
  };
}

interface ClientConfig {
  readonly client: pg.ClientConfig;
  readonly ssl: SslSettings<SslMode | undefined>;
}

const COMMON = { keepAlive: true, fallback_application_name: 'svc-graphql' };

function parametersConfig({ host, username, port, database, password }: ConnectionParameters): ClientConfig {
  const client = {
    ...COMMON,
    host,
    user: username,
    port,
    database,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    ...(password === undefined ? {} : { password }),
  };
  return { client, ssl: { mode: undefined, ca: undefined, cert: undefined, key: undefined, passphrase: undefined } };
}

function urlConfig(url: string): ClientConfig {
  const { text, parameters } = splitParameters(url);
  if (!text.startsWith('postgres://') && !text.startsWith('postgresql://'))
    throw invalidUrl('it does not begin with postgres:// or postgresql://');
  const take = (name: string): string | undefined => {
    const value = parameters.get(name) ?? undefined;
    parameters.delete(name);
    return value;
  };
  const timeout = Number(take('connect_timeout') ?? 0);
  const ssl: SslSettings<SslMode | undefined> = {
    mode: sslMode(take('sslmode'), take('ssl')),
    ca: certificateFile(take('sslrootcert')),
    cert: certificateFile(take('sslcert')),
    key: certificateFile(take('sslkey')),
    passphrase: take('sslpassword'),
  };
  const rest = parameters.toString();
  const connectionString = rest === '' ? text : `${text}?${rest}`;
  return { client: { ...COMMON, connectionString, connectionTimeoutMillis: timeout > 0 ? timeout * 1_000 : CONNECT_TIMEOUT_MS }, ssl };
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

/**
 * The meaning of `sslmode` in PostgreSQL's own client library. Without one, TLS is preferred; to a
 * server on the same machine it is only tried when the server insists on it.
 * https://www.postgresql.org/docs/current/libpq-ssl.html#LIBPQ-SSL-SSLMODE-STATEMENTS
 */
function sslAttempts(ssl: SslSettings<SslMode | undefined>, host: string): readonly (false | ConnectionOptions)[] {
  if (host.startsWith('/')) return [false];
  const identity: ConnectionOptions = tlsIdentity(ssl);
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
