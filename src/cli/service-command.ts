/** Decides from the first words whether the service's own command line or that of projects applies. */
import { unknownWord } from '../config/arguments.ts';
import { SERVICE_COMMAND_NAMES, SERVICE_COMMANDS } from '../config/service-commands.ts';
import { verbGroups, verbs } from './verbs/index.ts';

/** True for `serve`, `export`, `clean` and help, which have the options of the service. */
export function isServiceCommand(argv: readonly string[]): boolean {
  const [first] = argv;
  if (first === undefined || first.startsWith('-')) return true;
  // `svc version` is a command of projects, which also requests the version of the service.
  if (first === 'version') return false;
  return (SERVICE_COMMAND_NAMES as readonly string[]).includes(first);
}

export function isCommandListRequest(argv: readonly string[]): boolean {
  return argv.length === 0 || (argv.length === 1 && ['--help', '-h', 'help'].includes(argv[0] as string));
}

/** Turns `svc help metadata apply` into `svc metadata apply --help`. */
export function withHelpFlag(argv: readonly string[]): readonly string[] {
  const [first, second] = argv;
  return first === 'help' && second !== undefined && !second.startsWith('-') ? [...argv.slice(1), '--help'] : argv;
}

/** Commands of Hasura's CLI that do not exist here, with their replacements. */
const REPLACED: Readonly<Record<string, string>> = {
  scripts: 'svc import OLD --out NEW converts a project of any older version, and --state-from takes over which migrations are applied',
  console: 'the console is a page of the service, /console',
  plugins: 'there are no plugins',
  'update-cli': 'npm updates the command together with the service',
};

/** Message for a first word that is not a command; `undefined` if it is one. */
export function unknownCommandMessage(argv: readonly string[]): string | undefined {
  const [first] = argv;
  if (first === undefined || first.startsWith('-')) return undefined;
  const names = [
    ...SERVICE_COMMANDS.map(([name]) => name),
    ...verbGroups.flatMap(({ name, aliases = [] }) => (name.includes(' ') ? [] : [name, ...aliases])),
    ...verbs.flatMap(({ path, aliases = [] }) => (path.length === 1 ? [path[0] as string, ...aliases] : [])),
  ];
  if (names.includes(first)) return undefined;
  const replacement = REPLACED[first];
  if (replacement !== undefined) return `not-supported: there is no command "${first}"; ${replacement}`;
  return `${unknownWord('command', first, names).message}; svc --help lists all commands`;
}
