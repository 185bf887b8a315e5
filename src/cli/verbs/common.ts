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

export const EXIT_CODE: VerbOption = { flags: '--exit-code', help: 'end with 3 where there are differences or pending work' };
