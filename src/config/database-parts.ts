import { ConfigError } from './config-error.ts';
import type { Config } from './options.ts';

type Parts = Pick<Config, 'databaseUrl' | 'host' | 'port' | 'user' | 'password' | 'dbname' | 'pgConnectionOptions'>;

/** The characters that `decodeURI`, by which the driver reads a database's name, leaves encoded, but that a path may have plain. */
const PLAIN_IN_PATH = /%(?:3B|2F|3A|40|26|3D|2B|24|2C)/g;

/**
 * The URL that `--host` and the other parts make together, or null when none is given.
 * @throws ConfigError when parts are missing, or there is a URL as well; it tells no values
 */
export function databaseUrlOfParts(config: Parts): string | null {
  const { host, port, user, password, dbname, pgConnectionOptions } = config;
  const given = [host, port, user, password, dbname, pgConnectionOptions].some((part) => part !== null);
  if (!given) return null;
  if (config.databaseUrl !== null) {
    throw new ConfigError('the database is given by --database-url (SVC_GRAPHQL_DATABASE_URL) and by --host and its like: only one may be');
  }
  if (host === null || user === null || dbname === null) {
    const missing = Object.entries({ host, user, dbname }).flatMap(([flag, value]) => (value === null ? [`--${flag}`] : []));
    throw new ConfigError(
      `a database given by its parts needs --host, --user and --dbname; missing: ${missing.join(', ')}${port === null ? '' : " (--port is the database's; the service listens at --server-port)"}`,
    );
  }
  const credentials = encodeURIComponent(user) + (password === null || password === '' ? '' : `:${encodeURIComponent(password)}`);
  const path = encodeURIComponent(dbname).replace(PLAIN_IN_PATH, decodeURIComponent);
  const settings = pgConnectionOptions === null ? '' : `?options=${encodeURIComponent(pgConnectionOptions)}`;
  return `postgresql://${credentials}@${hostInUrl(host)}:${port ?? 5432}/${path}${settings}`;
}

/** An IPv6 address stands in brackets. */
function hostInUrl(host: string): string {
  return /^[\da-f:.]*:[\da-f:.]*$/i.test(host) ? `[${host}]` : encodeURIComponent(host);
}
