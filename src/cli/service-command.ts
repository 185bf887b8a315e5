import { COMMANDS } from '../config/service-commands.ts';
import { verbGroups, verbs } from './verbs/index.ts';

/** Whether the arguments are for the service's own commands (`serve`, `export`, `clean`, help), which have the options of the service. */
export function isServiceCommand(argv: readonly string[]): boolean {
  const [first, second] = argv;
  if (first === undefined || first.startsWith('-')) return true;
  // Of the projects', which knows the service's too.
  if (first === 'version') return false;
  if ((COMMANDS as readonly string[]).includes(first)) return !(first === 'help' && second !== undefined);
  const names = new Set([
    ...verbGroups.flatMap(({ name, aliases = [] }) => [name.split(' ')[0], ...aliases]),
    ...verbs.flatMap(({ path, aliases = [] }) => (path.length === 1 ? [path[0], ...aliases] : [])),
  ]);
  return !names.has(first);
}

/** Whether only the list of commands is wanted. */
export function asksForCommands(argv: readonly string[]): boolean {
  return argv.length === 0 || (argv.length === 1 && ['--help', '-h', 'help'].includes(argv[0] as string));
}
