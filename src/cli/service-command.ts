import { COMMANDS, SERVICE_COMMANDS } from '../config/service-commands.ts';
import { nearest } from '../util/nearest.ts';
import { verbGroups, verbs } from './verbs/index.ts';

/** Whether the arguments are for the service's own commands (`serve`, `export`, `clean`, help), which have the options of the service. */
export function isServiceCommand(argv: readonly string[]): boolean {
  const [first] = argv;
  if (first === undefined || first.startsWith('-')) return true;
  // Of the projects', which knows the service's too.
  if (first === 'version') return false;
  return (COMMANDS as readonly string[]).includes(first);
}

/** Whether only the list of commands is wanted. */
export function asksForCommands(argv: readonly string[]): boolean {
  return argv.length === 0 || (argv.length === 1 && ['--help', '-h', 'help'].includes(argv[0] as string));
}

/** `svc help metadata apply` is `svc metadata apply --help`. */
export function withHelpBehind(argv: readonly string[]): readonly string[] {
  const [first, second] = argv;
  return first === 'help' && second !== undefined && !second.startsWith('-') ? [...argv.slice(1), '--help'] : argv;
}

/** Commands of Hasura's command line that there are none of here, and what does what they did. */
const REPLACED: Readonly<Record<string, string>> = {
  scripts:
    'svc import OLD --out NEW makes a project of this version of one of any older version, and --state-from takes over what is applied',
  console: 'the console is a page of the service, /console',
  plugins: 'there are no plugins',
  'update-cli': 'npm brings the command up to date with the service',
};

/** What is to be told of a first word that is no command; undefined: it is one. */
export function complaintOf(argv: readonly string[]): string | undefined {
  const [first] = argv;
  if (first === undefined || first.startsWith('-')) return undefined;
  const names = [
    ...SERVICE_COMMANDS.map(([name]) => name),
    ...verbGroups.flatMap(({ name, aliases = [] }) => [name.split(' ')[0] as string, ...(name.includes(' ') ? [] : aliases)]),
    ...verbs.flatMap(({ path, aliases = [] }) => (path.length === 1 ? [path[0] as string, ...aliases] : [])),
  ];
  if (names.includes(first)) return undefined;
  const instead = REPLACED[first];
  if (instead !== undefined) return `not-supported: there is no command "${first}"; ${instead}`;
  const meant = nearest(first, names);
  return `unknown command ${JSON.stringify(first)}${meant === undefined ? '' : `, did you mean "${meant}"?`}; svc --help lists all commands`;
}
