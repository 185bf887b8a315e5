import { SERVICE_COMMANDS } from '../config/service-commands.ts';
import { verbGroups, verbs } from './verbs/index.ts';

/** What `svc --help` prints: all commands, a line for each. */
export function commandsHelp(): string {
  const rows: (readonly [string, string])[] = verbs
    .filter(({ path }) => path.length === 1)
    .map(({ path, summary }) => [path[0] as string, summary] as const);
  for (const { name, summary } of verbGroups) {
    if (name.includes(' ')) continue;
    const members = verbs.filter(({ path }) => path[0] === name).map(({ path }) => path.slice(1).join(' '));
    rows.push([name, `${summary}: ${members.join(', ')}`]);
  }
  const width = Math.max(...[...rows, ...SERVICE_COMMANDS].map(([name]) => name.length));
  const line = ([name, what]: readonly [string, string]): string => `  ${name.padEnd(width)}  ${what}`;
  return `${[
    'Usage: svc <command> [options]',
    '',
    'The service:',
    ...SERVICE_COMMANDS.map(line),
    '',
    'Projects, which keep metadata and migrations in files:',
    ...rows.map(line),
    '',
    'svc serve --help lists the options of the service, --help-all tells all about them;',
    'svc <command> --help tells about a command.',
  ].join('\n')}\n`;
}
