import { ConfigError } from './config-error.ts';
import type { Config } from './options.ts';

type Parts = Pick<Config, 'databaseUrl' | 'host' | 'port' | 'user' | 'password' | 'dbname' | 'pgConnectionOptions'>;

/** Characters that the driver's `decodeURI` leaves encoded in the name of a database, but that a path may contain unencoded. */
const PLAIN_IN_PATH = /%(?:3B|2F|3A|40|26|3D|2B|24|2C)/g;

/**
 * Builds the URL from `--host` and the other parts. Error messages contain no values.
 * @returns `null` if no part is set
 * @throws ConfigError if parts are missing, or a URL is set as well
 */
export function databaseUrlOfParts(config: Parts): string | null {
  const { host, port, user, password, dbname, pgConnectionOptions } = config;
  const isSet = [host, port, user, password, dbname, pgConnectionOptions].some((part) => part !== null);
  if (!isSet) return null;
  if (config.databaseUrl !== null) {
    throw new ConfigError(
      'the database is set both by --database-url (SVC_GRAPHQL_DATABASE_URL) and by --host and related options: only one may be used',
    );
  }
  if (host === null || user === null || dbname === null) {
    const missing = Object.entries({ host, user, dbname }).flatMap(([flag, value]) => (value === null ? [`--${flag}`] : []));
    throw new ConfigError(
      `a database without a URL needs --host, --user and --dbname; missing: ${missing.join(', ')}${port === null ? '' : ' (--port is the port of the database; the service listens at --server-port)'}`,
    );
  }
  const credentials = encodeURIComponent(user) + (password === null || password === '' ? '' : `:${encodeURIComponent(password)}`);
  const path = encodeURIComponent(dbname).replace(PLAIN_IN_PATH, decodeURIComponent);
  const settings = pgConnectionOptions === null ? '' : `?options=${encodeURIComponent(pgConnectionOptions)}`;
  return `postgresql://${credentials}@${hostInUrl(host)}:${port ?? 5432}/${path}${settings}`;
}

/** Puts an IPv6 address in brackets. */
function hostInUrl(host: string): string {
  return /^[\da-f:.]*:[\da-f:.]*$/i.test(host) ? `[${host}]` : encodeURIComponent(host);
}
