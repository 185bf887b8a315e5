/** Resolves connection strings and TLS settings. */
import type { PoolOptions, SslOptions } from 'mysql2/promise';
import type { ConnectContext } from '../../backend/backend.ts';
import {
  certificateFile,
  connectionText,
  knownSslMode,
  sslSettings,
  type SslSettings,
  tlsIdentity,
} from '../shared/connection-settings.ts';
import type { SvcError } from '../../errors/svc-error.ts';
import { type MariadbConfiguration, SSL_MODES, type SslMode } from './configuration.ts';
import { connectionError } from './errors.ts';

type Environment = ConnectContext['environment'];

export type ConnectionTarget = Pick<PoolOptions, 'host' | 'port' | 'user' | 'password' | 'database' | 'ssl' | 'socketPath'>;

/** @throws SvcError `not-found` for missing environment variables, `database-error` for invalid connection strings */
export function targetOf({ connectionString, ssl }: MariadbConfiguration, environment: Environment): ConnectionTarget {
  const url = parseUrl(connectionText(connectionString, environment));
  const take = (name: string): string | undefined => {
    const value = url.searchParams.get(name) ?? undefined;
    url.searchParams.delete(name);
    return value;
  };
  const mode = knownSslMode(take('sslmode') ?? 'disable', SSL_MODES, invalid);
  const files = { ca: file(take('sslrootcert')), cert: file(take('sslcert')), key: file(take('sslkey')), passphrase: take('sslpassword') };
  const socketPath = take('socket');
  const [unknown] = url.searchParams.keys();
  if (unknown !== undefined) throw invalid(`it has an unknown parameter "${unknown}"`);
  const settings: SslSettings<SslMode> = ssl === undefined ? { mode, ...files } : sslSettings(ssl, environment);
  const database = decodeURIComponent(url.pathname.slice(1));
  if (database === '') throw invalid('it has no database');
  const options = tls(settings);
  return {
    ...(socketPath === undefined ? { host: unbracketed(url.hostname), port: url.port === '' ? 3306 : Number(url.port) } : { socketPath }),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database,
    ...(options === null ? {} : { ssl: options }),
  };
}

function parseUrl(text: string): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw invalid('it is not a URL');
  }
  if (url.protocol !== 'mariadb:' && url.protocol !== 'mysql:') throw invalid('it must start with mariadb:// or mysql://');
  if (url.hostname === '') throw invalid('it has no host');
  try {
    decodeURIComponent(`${url.pathname}${url.username}${url.password}`);
  } catch {
    throw invalid('it has an invalid percent escape');
  }
  return url;
}

function unbracketed(host: string): string {
  return host.startsWith('[') ? host.slice(1, -1) : host;
}

function invalid(reason: string): SvcError {
  return connectionError(`the connection string is not valid: ${reason}`);
}

function file(path: string | undefined): string | undefined {
  return certificateFile(path, ({ message }) => connectionError(message));
}

/** Returns `null` for no TLS. In every other mode, a server without TLS is rejected. */
function tls(settings: SslSettings<SslMode>): SslOptions | null {
  const identity = tlsIdentity(settings);
  switch (settings.mode) {
    case 'disable':
      return null;
    case 'require':
      return { ...identity, rejectUnauthorized: identity.ca !== undefined, verifyIdentity: false };
    case 'verify-ca':
      return { ...identity, rejectUnauthorized: true, verifyIdentity: false };
    case 'verify-full':
      return { ...identity, rejectUnauthorized: true, verifyIdentity: true };
  }
}
