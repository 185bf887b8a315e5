/** The command line of the service itself: `svc serve`, `svc export`, `svc clean`. */
import { ArgumentError, type Flag, readArguments, unknownWord } from './arguments.ts';
import { ConfigError } from './config-error.ts';
import { type OptionName, optionRows } from './options.ts';
import { SERVICE_COMMAND_NAMES, type ServiceCommand } from './service-commands.ts';

const USAGE = `Usage: svc <${SERVICE_COMMAND_NAMES.join('|')}> [options]; svc serve --help lists the options`;

export interface CommandLine {
  readonly command: ServiceCommand;
  /** Text of each option that is set; the last one of a repeated flag. */
  readonly values: ReadonlyMap<OptionName, string>;
  /** `--yes`: skip the confirmation. */
  readonly confirmed: boolean;
  /** Topic of the command `help`. */
  readonly help: HelpTopic;
}

/** The list of commands, one line per option, the full text of all options, or a command with few options. */
export type HelpTopic = 'commands' | 'options' | 'all' | 'export' | 'clean';

interface ServiceFlag extends Flag {
  readonly key: OptionName | 'help' | 'help-all' | 'version' | 'yes';
}

const FLAGS: readonly ServiceFlag[] = [
  { key: 'help', names: ['--help', '-h'], value: 'none' },
  { key: 'help-all', names: ['--help-all'], value: 'none' },
  { key: 'version', names: ['--version'], value: 'none' },
  { key: 'yes', names: ['--yes'], value: 'none' },
  ...optionRows.map(([key, { flag, short, type }]): ServiceFlag => {
    const names = short === undefined ? [`--${flag}`] : [`--${flag}`, `-${short}`];
    return { key, names, value: type.flagAlone === true ? 'boolean' : 'required' };
  }),
];

/**
 * Reads the arguments, without node and script. Options may stand before and after the command.
 * @throws ConfigError for an unknown flag or command, or a missing value
 */
export function parseCommandLine(argv: readonly string[]): CommandLine {
  try {
    return parse(argv);
  } catch (error) {
    if (!(error instanceof ArgumentError)) throw error;
    throw new ConfigError(error.code === 'unknown' ? `${error.message}\n${USAGE}` : error.message);
  }
}

function parse(argv: readonly string[]): CommandLine {
  const values = new Map<OptionName, string>();
  let command: ServiceCommand | undefined;
  let confirmed = false;
  let help: 'options' | 'all' | undefined;
  for (const argument of readArguments(argv, FLAGS)) {
    if (argument.kind === 'operand') {
      command = nextCommand(argument.text, command);
      continue;
    }
    const { key } = argument.flag;
    if (key === 'version') return { command: 'version', values, confirmed, help: 'commands' };
    if (key === 'help') help ??= 'options';
    else if (key === 'help-all') help = 'all';
    else if (key === 'yes') confirmed = true;
    else values.set(key, argument.value);
  }
  if (help !== undefined) return { command: 'help', values, confirmed, help: help === 'all' ? help : topicOf(command) };
  if (confirmed && command !== 'clean') throw new ConfigError('--yes is for the command clean');
  return { command: command ?? 'help', values, confirmed, help: 'commands' };
}

function topicOf(command: ServiceCommand | undefined): HelpTopic {
  if (command === undefined || command === 'help') return 'commands';
  return command === 'export' || command === 'clean' ? command : 'options';
}

function nextCommand(text: string, previous: ServiceCommand | undefined): ServiceCommand {
  const command = SERVICE_COMMAND_NAMES.find((name) => name === text);
  if (command === undefined) throw unknownWord('command', text, SERVICE_COMMAND_NAMES);
  if (previous !== undefined) throw new ConfigError(`two commands, "${previous}" and "${text}"`);
  return command;
}
