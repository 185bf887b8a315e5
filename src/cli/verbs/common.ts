import type { VerbOption } from './verb.ts';

/** Of every command of a project. */
export const COMMON_OPTIONS: readonly VerbOption[] = [
  { flags: '--project <dir>', help: 'folder of the project; else the one with the nearest config.yaml, from here upwards' },
  { flags: '--env <name>', help: 'the environment of config.yaml to use; also SVC_GRAPHQL_ENV' },
  { flags: '--envfile <file>', help: 'file of environment variables in place of .env of the project' },
  { flags: '--json', help: 'print one JSON object, {ok, …, warnings, errors}' },
  { flags: '--quiet', help: 'print the result only' },
  { flags: '--yes', help: 'do not ask' },
];

/** Of those that ask a service. */
export const SERVICE_OPTIONS: readonly VerbOption[] = [
  { flags: '--endpoint <url>', help: 'address of the service, such as http://localhost:8080; also SVC_GRAPHQL_ENDPOINT' },
  { flags: '--admin-secret <secret>', help: 'its admin secret; also SVC_GRAPHQL_ADMIN_SECRET' },
  { flags: '--insecure-skip-tls-verify', help: 'do not check its certificate' },
  { flags: '--certificate-authority <file>', help: 'certificates to check it with' },
];

/** Of commands that look for mistakes. @param byDefault `warning`: where nothing that is found is ever more than that */
export function failOn(byDefault: 'error' | 'warning' = 'error'): VerbOption {
  return {
    flags: '--fail-on <severity>',
    help: 'what ends the command with 1: errors only, or warnings too',
    choices: ['error', 'warning'],
    default: byDefault,
  };
}

export const EXIT_CODE: VerbOption = { flags: '--exit-code', help: 'end with 3 where there are differences or pending work' };

/** @param help what the source is to the command; else: only this one */
export function databaseName(help = 'only this source; also SVC_GRAPHQL_DATABASE_NAME. Else all that have a folder'): VerbOption {
  return { flags: '--database-name <source>', help };
}

export const ALL_DATABASES: VerbOption = { flags: '--all-databases', help: 'all sources that have a folder' };
export const ALLOW_CHANGED: VerbOption = { flags: '--allow-changed', help: 'go on though applied migrations have changed since' };
export const ALLOW_INCONSISTENT: VerbOption = {
  flags: '--allow-inconsistent',
  help: 'apply metadata even if parts of it are inconsistent',
};
export const NO_TRANSACTION: VerbOption = {
  flags: '--no-transaction',
  help: 'run the statements of migrations one by one, with no transaction around them',
};

export const SCRATCH: VerbOption = {
  flags: '--scratch <source>',
  help: 'try it in the database of this source of the service, of the same kind, which has to be empty and is emptied again',
};

/** @param what the file becomes */
export function sqlFromFile(what: string): VerbOption {
  return { flags: '--sql-from-file <file>', help: `file that becomes ${what}` };
}

/** @param defaults seconds, for help */
export function sqlLimits(defaults: { readonly statement?: number; readonly lock?: number } = {}): readonly VerbOption[] {
  const shown = (seconds: number | undefined): string => (seconds === undefined ? '' : ` (${seconds})`);
  return [
    { flags: '--statement-timeout <seconds>', help: `how long a statement may take${shown(defaults.statement)}` },
    { flags: '--lock-timeout-sql <seconds>', help: `how long a statement may wait for a lock of the database${shown(defaults.lock)}` },
  ];
}

/** Of commands that run SQL in sources. */
export const RUNNING: readonly VerbOption[] = [
  { flags: '--lock-timeout <seconds>', help: 'how long to wait for somebody else who migrates the same source', default: '60' },
  ...sqlLimits(),
];
