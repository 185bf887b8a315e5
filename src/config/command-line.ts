import { nearest } from '../util/nearest.ts';
import { ConfigError } from './config-error.ts';
import { isBooleanText } from './option-types.ts';
import { type OptionName, optionRows } from './options.ts';
import { COMMANDS } from './service-commands.ts';

const USAGE = `Usage: svc <${COMMANDS.join('|')}> [options]; svc serve --help lists the options`;

export type Command = (typeof COMMANDS)[number];

export interface CommandLine {
  readonly command: Command;
  /** The text given for each option; the last one of a repeated flag. */
  readonly given: ReadonlyMap<OptionName, string>;
  /** `--yes`: nobody is to be asked. */
  readonly confirmed: boolean;
  /** Of the command `help`: what it is about. */
  readonly help: HelpTopic;
}

/** The commands, the options with a line for each, all about them, or one of the commands that need fewer. */
export type HelpTopic = 'commands' | 'options' | 'all' | 'export' | 'clean';

/**
 * Splits the arguments (without node and script) into the command and the options, which may stand
 * before or after it: `--flag value`, `--flag=value`, `-f value`; a boolean flag may stand alone.
 * @throws ConfigError for an unknown flag or command, or a missing value
 */
export function parseCommandLine(argv: readonly string[]): CommandLine {
  const given = new Map<OptionName, string>();
  let command: Command | undefined;
  let confirmed = false;
  let help: HelpTopic | undefined;
  for (let i = 0; i < argv.length; i++) {
    const argument = argv[i] as string;
    if (argument === '--help' || argument === '-h') {
      help ??= 'options';
      continue;
    }
    if (argument === '--help-all') {
      help = 'all';
      continue;
    }
    if (argument === '--version') return { command: 'version', given, confirmed, help: 'commands' };
    if (!argument.startsWith('-')) {
      command = commandNamed(argument, command);
      continue;
    }
    if (argument === '--yes') {
      confirmed = true;
      continue;
    }
    const [spelled, ...rest] = argument.split('=') as [string, ...string[]];
    const [name, option] = rowOf(spelled);
    if (rest.length > 0) {
      given.set(name, rest.join('='));
      continue;
    }
    const next = argv[i + 1];
    if (option.type.flagAlone && (next === undefined || !isBooleanText(next))) {
      given.set(name, 'true');
    } else if (next === undefined) {
      throw new ConfigError(`--${option.flag} needs a value`);
    } else {
      given.set(name, next);
      i++;
    }
  }
  if (help !== undefined) return { command: 'help', given, confirmed, help: help === 'all' ? help : topicOf(command) };
  if (confirmed && command !== 'clean') throw new ConfigError('--yes is for the command clean');
  return { command: command ?? 'help', given, confirmed, help: 'commands' };
}

function topicOf(command: Command | undefined): HelpTopic {
  if (command === undefined || command === 'help') return 'commands';
  return command === 'export' || command === 'clean' ? command : 'options';
}

function commandNamed(argument: string, before: Command | undefined): Command {
  const found = COMMANDS.find((c) => c === argument);
  if (found === undefined) throw unknown('command', argument, COMMANDS);
  if (before !== undefined) throw new ConfigError(`two commands, "${before}" and "${argument}"`);
  return found;
}

function rowOf(spelled: string): (typeof optionRows)[number] {
  const found = optionRows.find(([, o]) => spelled === `--${o.flag}` || (o.short !== undefined && spelled === `-${o.short}`));
  // A value written right behind a short flag is not repeated: it may be a password.
  if (found === undefined)
    throw spelled.startsWith('--')
      ? unknown('option', spelled, ['--help', '--help-all', '--version', '--yes', ...optionRows.map(([, { flag }]) => `--${flag}`)])
      : new ConfigError(`unknown option "${spelled.slice(0, 2)}"\n${USAGE}`);
  return found;
}

function unknown(what: 'command' | 'option', given: string, known: readonly string[]): ConfigError {
  const meant = nearest(given, known);
  return new ConfigError(`unknown ${what} ${JSON.stringify(given)}${meant === undefined ? '' : `, did you mean "${meant}"?`}\n${USAGE}`);
}
