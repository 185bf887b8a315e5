/** Finds the command of a project in the arguments and runs it. */
import { ArgumentError, type Flag, readArguments, unknownWord } from '../config/arguments.ts';
import { EXIT } from '../project/failure.ts';
import { counted } from '../util/counted.ts';
import type { OptionValue } from './context.ts';
import { perform } from './perform.ts';
import { groupHelp, verbHelp } from './verb-help.ts';
import { verbGroups, verbs } from './verbs/index.ts';
import { COMMON_OPTIONS, SERVICE_OPTIONS } from './verbs/common.ts';
import type { Verb, VerbGroup, VerbOption } from './verbs/verb.ts';

/**
 * Runs the command of the arguments and sets the exit code of the process.
 * @returns true if the process should keep running
 */
export async function runVerb(argv: readonly string[]): Promise<boolean> {
  /** The help that explains an error in the arguments. */
  let help = 'svc --help lists all commands';
  try {
    const found = find(argv);
    if ('group' in found) {
      help = `svc ${found.group.name} --help lists its commands`;
      const [next] = found.rest;
      if (next === undefined || isHelp(next)) {
        (next === undefined ? process.stderr : process.stdout).write(groupHelp(found.group));
        process.exitCode = next === undefined ? EXIT.usage : EXIT.done;
        return false;
      }
      throw unknownWord(next.startsWith('-') ? 'option' : 'command', next, namesBelow(found.group));
    }
    const { verb, rest } = found;
    help = `svc ${verb.path.join(' ')} --help lists its arguments and options`;
    if (rest.some(isHelp)) {
      process.stdout.write(verbHelp(verb));
      process.exitCode = EXIT.done;
      return false;
    }
    const { operands, options } = parse(verb, rest);
    return await perform(verb, operands, options);
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    process.stderr.write(`error: ${error.message}; ${help}\n`);
    process.exitCode = EXIT.usage;
    return false;
  }
}

const isHelp = (argument: string): boolean => argument === '--help' || argument === '-h';

type Found = { readonly verb: Verb; readonly rest: readonly string[] } | { readonly group: VerbGroup; readonly rest: readonly string[] };

/** Follows the first words through the groups, aliases included. */
function find(argv: readonly string[]): Found {
  let group: VerbGroup | undefined;
  for (const [at, word] of argv.entries()) {
    const parent = group?.name.split(' ') ?? [];
    const depth = parent.length;
    const isNamed = (path: readonly string[], aliases: readonly string[] = []): boolean =>
      path.length === depth + 1 && parent.every((each, i) => path[i] === each) && (path[depth] === word || aliases.includes(word));
    const verb = verbs.find(({ path, aliases }) => isNamed(path, aliases));
    if (verb !== undefined) return { verb, rest: argv.slice(at + 1) };
    const next = verbGroups.find(({ name, aliases }) => isNamed(name.split(' '), aliases));
    if (next === undefined) {
      if (group === undefined) throw unknownWord('command', word, namesBelow(undefined));
      return { group, rest: argv.slice(at) };
    }
    group = next;
  }
  if (group === undefined) throw new ArgumentError('value', 'a command is missing');
  return { group, rest: [] };
}

function namesBelow(group: VerbGroup | undefined): readonly string[] {
  const parent = group === undefined ? [] : group.name.split(' ');
  return [...verbGroups.map(({ name }) => name.split(' ')), ...verbs.map(({ path }) => path)].flatMap((path) =>
    path.length === parent.length + 1 && parent.every((each, i) => path[i] === each) ? [path[parent.length] as string] : [],
  );
}

interface VerbFlag extends Flag {
  readonly option: VerbOption;
}

interface Parsed {
  readonly operands: readonly string[];
  readonly options: Readonly<Record<string, OptionValue>>;
}

/** @throws ArgumentError */
function parse(verb: Verb, argv: readonly string[]): Parsed {
  const all = [...verb.options, ...(verb.needs === 'files' ? [] : SERVICE_OPTIONS), ...COMMON_OPTIONS];
  const flags = all.map(
    (option): VerbFlag => ({ names: namesOf(option), value: option.flags.includes('<') ? 'required' : 'none', option }),
  );
  const options: Record<string, OptionValue> = {};
  for (const option of all) if (option.default !== undefined) options[keyOf(option)] = option.default;
  const operands: string[] = [];
  for (const argument of readArguments(argv, flags)) {
    if (argument.kind === 'operand') operands.push(argument.text);
    else if (argument.flag.value === 'none') options[keyOf(argument.flag.option)] = true;
    else options[keyOf(argument.flag.option)] = optionValue(argument.flag.option, argument.value, options);
  }
  for (const option of all) {
    if (option.mandatory === true && options[keyOf(option)] === undefined)
      throw new ArgumentError('value', `${longName(option)} is required`);
  }
  checkOperands(verb, operands);
  return { operands, options };
}

function optionValue(option: VerbOption, text: string, before: Readonly<Record<string, OptionValue>>): OptionValue {
  if (option.choices?.includes(text) === false)
    throw new ArgumentError(
      'value',
      `${longName(option)}: expecting one of ${option.choices.join(', ')}, but found ${JSON.stringify(text)}`,
    );
  const list = before[keyOf(option)];
  return option.many === true ? [...(Array.isArray(list) ? (list as readonly string[]) : []), text] : text;
}

function checkOperands({ path, arguments: expected = [] }: Verb, operands: readonly string[]): void {
  const missing = expected.find(({ required = false }, i) => required && operands[i] === undefined);
  if (missing !== undefined) throw new ArgumentError('value', `the argument <${missing.name}> is missing`);
  if (expected.at(-1)?.many === true || operands.length <= expected.length) return;
  throw new ArgumentError(
    'value',
    `svc ${path.join(' ')} takes ${expected.length === 0 ? 'no arguments' : `at most ${counted(expected.length, 'argument')}`}`,
  );
}

function namesOf({ flags }: VerbOption): readonly string[] {
  return [...flags.matchAll(/(?<=^|, )--?[a-z-]+/g)].map(([name]) => name).sort((a, b) => b.length - a.length);
}

function longName(option: VerbOption): string {
  return namesOf(option)[0] as string;
}

/** `dryRun` for `--dry-run` */
function keyOf(option: VerbOption): string {
  return longName(option)
    .slice(2)
    .replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}
