import { SERVICE_COMMANDS } from '../config/service-commands.ts';
import { verbGroups, verbs } from './verbs/index.ts';

/** Output of `svc --help`: one line per command. */
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
  const line = ([name, summary]: readonly [string, string]): string => `  ${name.padEnd(width)}  ${summary}`;
  return `${[
    'Usage: svc <command> [options]',
    '',
    'The service:',
    ...SERVICE_COMMANDS.map(line),
    '',
    'Projects, which keep metadata and migrations in files:',
    ...rows.map(line),
    '',
    'svc serve --help lists the options of the service, and svc serve --help-all describes them in full.',
    'svc <command> --help describes a command.',
  ].join('\n')}\n`;
}
