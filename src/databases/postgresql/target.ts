/** Resolves database URLs and TLS settings to connection options. */
import type { ConnectionOptions } from 'node:tls';
import pg from 'pg';
import type { ConnectContext } from '../../backend/backend.ts';
import {
  certificateFile,
  connectionText,
  knownSslMode,
  sslSettings,
  type SslSettings,
  tlsIdentity,
} from '../shared/connection-settings.ts';
import { parsedWhenChanged } from '../shared/secret-file.ts';
import type { SvcError } from '../../errors/svc-error.ts';
import { type ConnectionConfiguration, type ConnectionParameters, SSL_MODES, type SslMode } from './configuration.ts';
import type { ConnectionTarget } from './driver/open-session.ts';
import { connectionError } from './errors.ts';
import { fileOfUrl, readUrlFile } from './url-file.ts';

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Returns a function that returns the target: resolved once, or again when the file with the URL has changed.
 * @throws SvcError, as does the returned function, for missing environment variables, invalid URLs and unreadable files
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
  return parsedWhenChanged(
    () => readUrlFile(file, secretsFolder),
    (url) => targetAt(urlConfig(url)),
  );
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
    ca: certificateFile(take('sslrootcert'), connectionError),
    cert: certificateFile(take('sslcert'), connectionError),
    key: certificateFile(take('sslkey'), connectionError),
    passphrase: take('sslpassword'),
  };
  const rest = parameters.toString();
  const connectionString = rest === '' ? text : `${text}?${rest}`;
  return { client: { ...COMMON, connectionString, connectionTimeoutMillis: timeout > 0 ? timeout * 1_000 : CONNECT_TIMEOUT_MS }, ssl };
}

function splitParameters(url: string): { text: string; parameters: URLSearchParams } {
  const start = url.indexOf('?');
  return start < 0
    ? { text: url, parameters: new URLSearchParams() }
    : { text: url.slice(0, start), parameters: new URLSearchParams(url.slice(start + 1)) };
}

/** Returns the host, or the default of `pg`. */
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
  return knownSslMode(mode, SSL_MODES, invalidUrl);
}

/**
 * Returns the variants of TLS for an `sslmode`, as in PostgreSQL's own client library. Without one, TLS is preferred; for a server on the
 * same machine it is only tried if the server requires it.
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
