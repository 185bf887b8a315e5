/** `--help` of the commands of projects, from the table of verbs. */
import { COMMON_OPTIONS, SERVICE_OPTIONS } from './verbs/common.ts';
import { verbGroups, verbs } from './verbs/index.ts';
import type { Verb, VerbGroup, VerbOption } from './verbs/verb.ts';

type Row = readonly [name: string, help: string];

const HELP: Row = ['-h, --help', 'print this help'];

export function verbHelp(verb: Verb): string {
  const { aliases = [], summary, details, arguments: operands = [], options, needs, example } = verb;
  return print([
    `Usage: ${usageOf(verb)} [options]`,
    '',
    ...wrapped(`${capital(summary)}.`),
    ...(aliases.length === 0 ? [] : ['', `Alias: ${aliases.join(', ')}`]),
    ...(details === undefined ? [] : ['', ...wrapped(details)]),
    ...section(
      'Arguments',
      operands.map(({ name, help }) => [name, help]),
    ),
    ...section('Options', [...options.map(row), HELP]),
    ...(needs === 'files' ? [] : section('Connection to the service', SERVICE_OPTIONS.map(row))),
    ...section('Options of all commands', COMMON_OPTIONS.map(row)),
    '',
    `Example: ${example}`,
  ]);
}

/** Returns the words of a command with its arguments and required options. */
export function usageOf({ path, arguments: operands = [], options }: Verb): string {
  const spelled = operands.map(({ name, required = false, many = false }) => {
    const text = many ? `${name}...` : name;
    return required ? `<${text}>` : `[${text}]`;
  });
  return ['svc', ...path, ...spelled, ...options.filter(({ mandatory }) => mandatory).map(({ flags }) => flags)].join(' ');
}

export function groupHelp({ name, aliases = [], summary }: VerbGroup): string {
  const below = (path: readonly string[]): boolean => path.slice(0, -1).join(' ') === name;
  const rows: Row[] = [...verbs, ...verbGroups.map((group) => ({ ...group, path: group.name.split(' ') }))]
    .filter(({ path }) => below(path))
    .map(({ path, aliases: others = [], summary: own }) => [[path.at(-1), ...others].join(', '), own]);
  return print([
    `Usage: svc ${name} <command> [options]`,
    '',
    ...wrapped(`${capital(summary)}.`),
    ...(aliases.length === 0 ? [] : ['', `Alias: ${aliases.join(', ')}`]),
    ...section('Commands', rows),
    '',
    `svc ${name} <command> --help describes a command.`,
  ]);
}

/** Help text of an option with its choices, default and other rules. */
export function helpOf({ help, choices, default: byDefault, many = false, mandatory = false }: VerbOption): string {
  const notes = [
    ...(choices === undefined ? [] : [`one of ${choices.join(', ')}`]),
    ...(byDefault === undefined ? [] : [`default ${byDefault}`]),
    ...(many ? ['repeatable'] : []),
    ...(mandatory ? ['required'] : []),
  ];
  return notes.length === 0 ? help : `${help} (${notes.join('; ')})`;
}

function row(option: VerbOption): Row {
  return [option.flags, helpOf(option)];
}

function section(title: string, rows: readonly Row[]): readonly string[] {
  if (rows.length === 0) return [];
  const width = Math.max(...rows.map(([name]) => name.length));
  const lines = rows.flatMap(([name, help]) => {
    const [first = '', ...more] = wrapped(help, width + 4);
    return [`  ${name.padEnd(width)}  ${first}`, ...more.map((line) => `${' '.repeat(width + 4)}${line}`)];
  });
  return ['', `${title}:`, ...lines];
}

/** Breaks text into lines that fit beside a column of `indent` characters. */
function wrapped(text: string, indent = 0): readonly string[] {
  const width = Math.max(40, Math.min(process.stdout.columns ?? 100, 100) - indent);
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function print(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}
