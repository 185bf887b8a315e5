/** Where and how connections are opened: what connection strings and settings of TLS mean. */
import { readFileSync } from 'node:fs';
import type { PoolOptions, SslOptions } from 'mysql2/promise';
import type { ConnectContext } from '../../backend/backend.ts';
import { connectionText, sslSettings, type SslSettings, tlsIdentity } from '../shared/connection-settings.ts';
import type { SvcError } from '../../errors/svc-error.ts';
import { type MariadbConfiguration, SSL_MODES, type SslMode } from './configuration.ts';
import { connectionError } from './errors.ts';

type Environment = ConnectContext['environment'];

export type ConnectionTarget = Pick<PoolOptions, 'host' | 'port' | 'user' | 'password' | 'database' | 'ssl' | 'socketPath'>;

/** @throws SvcError `not-found` for missing environment variables, `database-error` for wrong connection strings */
export function targetOf({ connectionString, ssl }: MariadbConfiguration, environment: Environment): ConnectionTarget {
  const url = parseUrl(connectionText(connectionString, environment));
  const take = (name: string): string | undefined => {
    const value = url.searchParams.get(name) ?? undefined;
    url.searchParams.delete(name);
    return value;
  };
  const mode = sslMode(take('sslmode'));
  const files = { ca: file(take('sslrootcert')), cert: file(take('sslcert')), key: file(take('sslkey')), passphrase: take('sslpassword') };
  const socketPath = take('socket');
  const [unknown] = url.searchParams.keys();
  if (unknown !== undefined) throw invalid(`it has an unknown parameter "${unknown}"`);
  const settings: SslSettings<SslMode> = ssl === undefined ? { mode, ...files } : sslSettings(ssl, environment);
  const database = decodeURIComponent(url.pathname.slice(1));
  if (database === '') throw invalid('it names no database');
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
    throw invalid('it is no URL');
  }
  if (url.protocol !== 'mariadb:' && url.protocol !== 'mysql:') throw invalid('it does not begin with mariadb:// or mysql://');
  if (url.hostname === '') throw invalid('it names no host');
  try {
    decodeURIComponent(`${url.pathname}${url.username}${url.password}`);
  } catch {
    throw invalid('it has a wrong percent escape');
  }
  return url;
}

function unbracketed(host: string): string {
  return host.startsWith('[') ? host.slice(1, -1) : host;
}

function invalid(reason: string): SvcError {
  return connectionError(`the connection string is not valid: ${reason}`);
}

function sslMode(mode: string | undefined): SslMode {
  if (mode === undefined) return 'disable';
  const known = SSL_MODES.find((name) => name === mode);
  if (known === undefined) throw invalid(`unknown sslmode "${mode}"`);
  return known;
}

function file(path: string | undefined): string | undefined {
  if (path === undefined || path === 'system') return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw connectionError((error as Error).message);
  }
}

/** Null: no TLS. A server without it is refused in every other mode. */
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
