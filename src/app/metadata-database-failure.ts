/** Failure to connect to the metadata database at the start: what is wrong, where, and what to do. */
import type { Config } from '../config/options.ts';
import { describeFailure } from '../errors/describe-failure.ts';
import { SvcError } from '../errors/svc-error.ts';

/** Options that name the metadata database. */
export type DatabaseOptions = Pick<Config, 'databaseUrl' | 'host'>;

/** Remedies by the code of the system or the SQLSTATE of PostgreSQL. @param option names the database */
const REMEDIES: Readonly<Record<string, (option: string) => string>> = {
  ECONNREFUSED: (option) => `Nothing listens there: start the database server, or correct ${option}.`,
  ENOTFOUND: (option) => `The host name does not exist: correct ${option}.`,
  ENOENT: (option) => `There is no socket: start the database server, or correct ${option}.`,
  '28P01': (option) => `Correct user and password in ${option}.`,
  '28000': (option) => `The server does not accept this user from here: correct ${option}, or the rules of the server.`,
  '3D000': (option) => `Create the database, or correct its name in ${option}.`,
};

/** @param error of the connection; its cause has the code */
export function metadataDatabaseFailure(error: unknown, url: string, config: DatabaseOptions): SvcError {
  const option = optionOf(url, config);
  const remedy = codesOf(error).flatMap((code) => REMEDIES[code] ?? [])[0] ?? ((): string => `Check the database server and ${option}.`);
  const message = `the metadata database${placeOf(url)} cannot be used: ${describeFailure(error)}. ${remedy(option)}`;
  return new SvcError(error instanceof SvcError ? error.code : 'unexpected', message, { status: 500, cause: error });
}

/** Codes of an error and of its causes. */
export function codesOf(error: unknown): readonly string[] {
  const codes: string[] = [];
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as { code?: unknown };
    if (typeof code === 'string') codes.push(code);
  }
  return codes;
}

function optionOf(url: string, { databaseUrl, host }: DatabaseOptions): string {
  if (url !== databaseUrl) return '--metadata-database-url (SVC_GRAPHQL_METADATA_DATABASE_URL)';
  return host === null ? '--database-url (SVC_GRAPHQL_DATABASE_URL)' : '--host, --port, --user, --password and --dbname';
}

/** Host, port and database, without credentials. */
function placeOf(url: string): string {
  try {
    const { host, pathname } = new URL(url);
    return host === '' ? '' : ` ${host}${pathname}`;
  } catch {
    return '';
  }
}
