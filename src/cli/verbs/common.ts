import type { VerbOption } from './verb.ts';

/** Options of all commands. */
export const COMMON_OPTIONS: readonly VerbOption[] = [
  { flags: '--project <dir>', help: 'project folder. Default: the nearest folder with a config.yaml, from the working directory upwards' },
  { flags: '--env <name>', help: 'environment of config.yaml to use; also SVC_GRAPHQL_ENV' },
  { flags: '--envfile <file>', help: 'file of environment variables. Default: .env of the project' },
  { flags: '--json', help: 'print one JSON object, {ok, …, warnings, errors}' },
  { flags: '--quiet', help: 'print only the result' },
  { flags: '--yes', help: 'answer all confirmations with yes' },
];

/** Options of commands that call a service. */
export const SERVICE_OPTIONS: readonly VerbOption[] = [
  { flags: '--endpoint <url>', help: 'URL of the service, such as http://localhost:8080; also SVC_GRAPHQL_ENDPOINT' },
  { flags: '--admin-secret <secret>', help: 'admin secret of the service; also SVC_GRAPHQL_ADMIN_SECRET' },
  { flags: '--insecure-skip-tls-verify', help: 'do not verify the TLS certificate of the service' },
  { flags: '--certificate-authority <file>', help: 'CA certificates to verify the TLS certificate of the service' },
];

/** @param byDefault `warning` for commands whose findings are warnings at most */
export function failOn(byDefault: 'error' | 'warning' = 'error'): VerbOption {
  return {
    flags: '--fail-on <severity>',
    help: 'lowest severity of a finding that makes the command exit with 1',
    choices: ['error', 'warning'],
    default: byDefault,
  };
}

/** Option of commands whose warnings can be accepted in the files. */
export const VERBOSE: VerbOption = { flags: '--verbose', help: 'also list accepted warnings with their reasons' };

export const EXIT_CODE: VerbOption = { flags: '--exit-code', help: 'exit with 3 if there are differences or pending work' };

export function sourceOption(
  help = 'only this source; also SVC_GRAPHQL_DATABASE_NAME. Default: all sources that have a folder',
): VerbOption {
  return { flags: '--database-name <source>', help };
}

export const ALL_DATABASES: VerbOption = { flags: '--all-databases', help: 'all sources that have a folder' };
export const ALLOW_CHANGED: VerbOption = {
  flags: '--allow-changed',
  help: 'continue even if files of applied migrations have changed since they were run',
};
export const ALLOW_INCONSISTENT: VerbOption = {
  flags: '--allow-inconsistent',
  help: 'apply the metadata even if parts of it are inconsistent',
};
export const NO_TRANSACTION: VerbOption = {
  flags: '--no-transaction',
  help: 'run the statements of migrations one by one, without a transaction',
};

export const SCRATCH: VerbOption = {
  flags: '--scratch <source>',
  help: 'try the migrations in the database of this source, which must be empty and of the same kind; it is emptied afterwards',
};

/** @param target the file that the content is copied to, for the help text */
export function sqlFromFile(target: string): VerbOption {
  return { flags: '--sql-from-file <file>', help: `file to copy to ${target}` };
}

/** @param defaults in seconds, for the help text */
export function sqlLimits(defaults: { readonly statement?: number; readonly lock?: number } = {}): readonly VerbOption[] {
  const shown = (seconds: number | undefined): string => (seconds === undefined ? 'that of the database' : String(seconds));
  return [
    { flags: '--statement-timeout <seconds>', help: `timeout of each SQL statement, in seconds. Default: ${shown(defaults.statement)}` },
    {
      flags: '--lock-timeout-sql <seconds>',
      help: `maximum time that a statement waits for a database lock, in seconds. Default: ${shown(defaults.lock)}`,
    },
  ];
}

export const LOCK_TIMEOUT: VerbOption = {
  flags: '--lock-timeout <seconds>',
  help: 'maximum time to wait for another migration run of the same source, in seconds',
  default: '60',
};

/** Options of commands that run SQL in sources. */
export const RUNNING: readonly VerbOption[] = [LOCK_TIMEOUT, ...sqlLimits()];
