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
  if (first === 'scripts')
    return 'not-supported: there is no command "scripts"; svc import makes a project of version 3 of one of an older version';
  const meant = nearest(first, names);
  return `unknown command ${JSON.stringify(first)}${meant === undefined ? '' : `, did you mean "${meant}"?`}; svc --help lists all commands`;
}
