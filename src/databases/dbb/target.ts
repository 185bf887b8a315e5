/** Where and how connections are opened: what connection strings and settings of TLS mean. */
import { readFileSync } from 'node:fs';
import type { PoolOptions, SslOptions } from 'mysql2/promise';
import type { ConnectContext } from '../../backend/backend.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { fillTemplate } from '../../metadata/environment-template.ts';
import { type DbbConfiguration, type FromEnvironment, SSL_MODES, type SslConfiguration } from './configuration.ts';
import { connectionError } from './errors.ts';

type Environment = ConnectContext['environment'];

export type ConnectionTarget = Pick<PoolOptions, 'host' | 'port' | 'user' | 'password' | 'database' | 'ssl' | 'socketPath'>;

interface SslSettings {
  readonly mode: SslConfiguration['sslmode'];
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  readonly passphrase?: string;
}

/** @throws SvcError `not-found` for missing environment variables, `database-error` for wrong connection strings */
export function targetOf({ connectionString, ssl }: DbbConfiguration, environment: Environment): ConnectionTarget {
  const text =
    connectionString.kind === 'environment' ? variable(connectionString.name, environment) : expand(connectionString.text, environment);
  const url = parseUrl(text);
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
  const settings: SslSettings = ssl === undefined ? given({ mode, ...files }) : fromEnvironment(ssl, environment);
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

function variable(name: string, environment: Environment): string {
  const value = environment[name];
  if (value === undefined) throw new SvcError('not-found', `environment variable '${name}' not set`);
  return value;
}

function expand(template: string, environment: Environment): string {
  const filled = fillTemplate(template, environment);
  if ('text' in filled) return filled.text;
  throw new SvcError('not-found', `Value for environment variables not found: ${filled.missing.join(', ')}`);
}

function sslMode(mode: string | undefined): SslConfiguration['sslmode'] {
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

function fromEnvironment(ssl: SslConfiguration, environment: Environment): SslSettings {
  const value = (reference: FromEnvironment | undefined): string | undefined =>
    reference === undefined ? undefined : variable(reference.from_env, environment);
  return given({
    mode: ssl.sslmode,
    ca: value(ssl.sslrootcert),
    cert: value(ssl.sslcert),
    key: value(ssl.sslkey),
    passphrase: value(ssl.sslpassword),
  });
}

function given(settings: { readonly [K in keyof SslSettings]: SslSettings[K] | undefined } & Pick<SslSettings, 'mode'>): SslSettings {
  const { mode, ca, cert, key, passphrase } = settings;
  return {
    mode,
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(passphrase === undefined ? {} : { passphrase }),
  };
}

/** Null: no TLS. A server without it is refused in every other mode. */
function tls({ mode, ...identity }: SslSettings): SslOptions | null {
  switch (mode) {
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
