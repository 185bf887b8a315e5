/** The table of commands as a program of commander, and how one of them is run. */
import { createInterface } from 'node:readline/promises';
import { Argument, Command, CommanderError, Option } from 'commander';
import { SERVICE_COMMANDS } from '../config/service-commands.ts';
import { EXIT, failure, type Problem, printProblem, ProjectFailure, reasonOf } from '../project/failure.ts';
import type { Project } from '../project/project.ts';
import type { ServerClient } from '../project/server-client.ts';
import { type JsonObject, printJson } from '../util/json.ts';
import type { Call, OptionValue, Outcome } from './call.ts';
import { COMMON_OPTIONS, SERVICE_OPTIONS } from './verbs/common.ts';
import { verbGroups, verbs } from './verbs/index.ts';
import type { Verb, VerbOption } from './verbs/verb.ts';

/**
 * Runs the command of the arguments and sets the exit code of the process.
 * @returns whether the process is to go on
 */
export async function runVerb(argv: readonly string[]): Promise<boolean> {
  let running = false;
  const program = buildProgram(async (verb, args, options) => {
    running = await perform(verb, args, options);
  });
  try {
    await program.parseAsync([...argv], { from: 'user' });
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    // Help and versions are told by the same way.
    process.exitCode = thrown.exitCode === 0 ? EXIT.done : EXIT.usage;
  }
  return running;
}

type Action = (verb: Verb, args: readonly string[], options: Readonly<Record<string, OptionValue>>) => Promise<void>;

function buildProgram(action: Action): Command {
  const program = quiet(new Command('svc'));
  program.description('svc: one governed GraphQL API over databases and remote GraphQL servers').enablePositionalOptions();
  const groups = new Map<string, Command>();
  for (const { name, aliases = [], summary } of verbGroups) {
    const path = name.split(' ');
    const parent = groups.get(path.slice(0, -1).join(' ')) ?? program;
    const group = quiet(parent.command(path.at(-1) as string))
      .summary(summary)
      .description(summary);
    for (const alias of aliases) group.alias(alias);
    groups.set(name, group);
  }
  for (const verb of verbs) {
    const parent = groups.get(verb.path.slice(0, -1).join(' ')) ?? program;
    addVerb(parent, verb, action);
  }
  return program;
}

function quiet(command: Command): Command {
  return command.exitOverride().showSuggestionAfterError(true).helpCommand(false);
}

function addVerb(parent: Command, verb: Verb, action: Action): void {
  const command = quiet(parent.command(verb.path.at(-1) as string)).summary(verb.summary);
  command.description(verb.details === undefined ? `${verb.summary}.` : `${verb.summary}.\n\n${verb.details}`);
  for (const alias of verb.aliases ?? []) command.alias(alias);
  for (const { name, help, required = false, many = false } of verb.arguments ?? []) {
    const spelled = many ? `${name}...` : name;
    command.addArgument(new Argument(required ? `<${spelled}>` : `[${spelled}]`, help));
  }
  const all = [...verb.options, ...(verb.needs === 'files' ? [] : SERVICE_OPTIONS), ...COMMON_OPTIONS];
  for (const option of all) command.addOption(optionOf(option));
  command.addHelpText('after', `\nExample: ${verb.example}`);
  command.action(async (...given: unknown[]) => {
    const args = given.slice(0, -2).flatMap((each) => (Array.isArray(each) ? (each as string[]) : typeof each === 'string' ? [each] : []));
    await action(verb, args, command.opts());
  });
}

function optionOf({ flags, help, choices, default: byDefault, many = false, mandatory = false }: VerbOption): Option {
  const option = new Option(flags, help);
  if (choices !== undefined) option.choices(choices);
  if (byDefault !== undefined) option.default(byDefault);
  if (many) option.argParser((value: string, before: readonly string[] = []) => [...before, value]);
  if (mandatory) option.makeOptionMandatory();
  return option;
}

async function perform(verb: Verb, args: readonly string[], options: Readonly<Record<string, OptionValue>>): Promise<boolean> {
  const json = options['json'] === true;
  const warnings: string[] = [];
  const tell = (message: string): void => {
    if (options['quiet'] !== true && !json) process.stderr.write(`${message}\n`);
  };
  const warn = (message: string): void => {
    if (warnings.includes(message)) return;
    warnings.push(message);
    if (!json) process.stderr.write(`warning: ${message}\n`);
  };
  const servers: ServerClient[] = [];
  let outcome: Outcome;
  try {
    const made = makeCall(args, options, { json, tell, warn, onServer: (client) => servers.push(client) });
    outcome = await (await verb.load())(made);
  } catch (thrown) {
    outcome = outcomeOf(thrown);
  } finally {
    for (const server of servers) await server.close().catch(() => undefined);
  }
  print(outcome, json, warnings);
  process.exitCode = outcome.exit ?? EXIT.done;
  return outcome.running === true;
}

function outcomeOf(thrown: unknown): Outcome {
  if (thrown instanceof ProjectFailure) return { exit: thrown.exit, problems: thrown.problems };
  return { exit: EXIT.failed, problems: [{ code: 'unexpected', message: reasonOf(thrown) }] };
}

function print({ exit = EXIT.done, text, data = {}, problems = [] }: Outcome, json: boolean, warnings: readonly string[]): void {
  if (json) {
    const ok = exit === EXIT.done || exit === EXIT.found;
    process.stdout.write(`${printJson({ ok, ...data, warnings, errors: problems.map((problem) => problemJson(problem)) })}\n`);
    return;
  }
  if (text !== undefined && text !== '') process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
  for (const problem of problems) process.stderr.write(`${problem.severity ?? 'error'}: ${printProblem(problem)}\n`);
}

function problemJson({ code, message, file, line, column, path, severity }: Problem): JsonObject {
  const all = { code, message, file, line, column, path, severity };
  return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string | number] => entry[1] !== undefined));
}

interface Around {
  readonly json: boolean;
  readonly tell: Call['tell'];
  readonly warn: Call['warn'];
  readonly onServer: (client: ServerClient) => unknown;
}

function makeCall(args: readonly string[], options: Readonly<Record<string, OptionValue>>, { json, tell, warn, onServer }: Around): Call {
  const environment = process.env;
  const cwd = process.cwd();
  let project: Promise<Project> | undefined;
  const open = async (needed: boolean): Promise<Project> => {
    const { openProject } = await import('../project/project.ts');
    const opened = openProject(cwd, projectFlags(options), environment, needed);
    for (const warning of opened.warnings) warn(warning);
    return opened;
  };
  const openOnce = (needed: boolean): Promise<Project> => {
    project ??= open(needed);
    return project;
  };
  const anyProject = (): Promise<Project> => openOnce(false);
  let client: Promise<ServerClient> | undefined;
  const connect = async (): Promise<ServerClient> => {
    const { serverClient } = await import('../project/server-client.ts');
    const made = serverClient((await anyProject()).settings);
    onServer(made);
    return made;
  };
  return {
    args,
    options,
    cwd,
    environment,
    commands: [
      ...SERVICE_COMMANDS.map(([name]) => [name]),
      ...verbGroups.map(({ name }) => name.split(' ')),
      ...verbs.map(({ path }) => path),
    ],
    json,
    tell,
    print(line) {
      if (!json) process.stdout.write(`${line}\n`);
    },
    warn,
    project: () => openOnce(true),
    anyProject,
    server() {
      client ??= connect();
      return client;
    },
    kinds: async () => (await import('../app/metadata-kinds.ts')).metadataKinds,
    async confirm(question) {
      if (options['yes'] === true) return true;
      const { settings } = await anyProject();
      if (json || !settings.interactive || !process.stdin.isTTY || !process.stderr.isTTY)
        throw failure('not-confirmed', `${question} Confirm it with --yes.`, {}, EXIT.usage);
      const asked = createInterface({ input: process.stdin, output: process.stderr });
      try {
        return /^y(?:es)?$/i.test((await asked.question(`${question} [y/N] `)).trim());
      } finally {
        asked.close();
      }
    },
  };
}

function projectFlags(options: Readonly<Record<string, OptionValue>>) {
  const text = (name: string): string | undefined => (typeof options[name] === 'string' ? options[name] : undefined);
  return {
    project: text('project'),
    envfile: text('envfile'),
    env: text('env'),
    endpoint: text('endpoint'),
    adminSecret: text('adminSecret'),
    insecureSkipTlsVerify: options['insecureSkipTlsVerify'] === true ? true : undefined,
    certificateAuthority: text('certificateAuthority'),
  };
}
