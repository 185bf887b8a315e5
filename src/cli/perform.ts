/** Runs one command of a project: builds its context, then prints its outcome. */
import { SERVICE_COMMANDS } from '../config/service-commands.ts';
import { EXIT, failure, printProblem, problemJson, ProjectFailure, reasonOf } from '../project/failure.ts';
import type { Project } from '../project/project.ts';
import type { ServerClient } from '../project/server-client.ts';
import { printJson } from '../util/json.ts';
import { hasColoursOrForced, painter } from '../util/paint.ts';
import type { CommandContext, CommandOutcome, OptionValue } from './context.ts';
import { printable, printableMessage } from './printable.ts';
import { Questions } from './questions.ts';
import { verbGroups, verbs } from './verbs/index.ts';
import type { Verb } from './verbs/verb.ts';

type Options = Readonly<Record<string, OptionValue>>;

/** Sets the exit code of the process. @returns true if the process should keep running */
export async function perform(verb: Verb, operands: readonly string[], options: Options): Promise<boolean> {
  const output = new Output(options);
  const servers: ServerClient[] = [];
  let outcome: CommandOutcome;
  try {
    outcome = await (await verb.load())(contextOf(operands, options, output, (client) => servers.push(client)));
  } catch (thrown) {
    outcome = outcomeOf(thrown);
  } finally {
    for (const server of servers) await server.close().catch(() => undefined);
  }
  output.finish(outcome);
  process.exitCode = outcome.exit ?? EXIT.done;
  return outcome.running === true;
}

function outcomeOf(thrown: unknown): CommandOutcome {
  if (thrown instanceof ProjectFailure) return { exit: thrown.exit, problems: thrown.problems };
  return { exit: EXIT.failed, problems: [{ code: 'unexpected', message: reasonOf(thrown) }] };
}

/** Returns a text for standard output; text for a file or another program stays as it is. */
function forStdout(text: string): string {
  return process.stdout.isTTY === true ? printable(text, true) : text;
}

/** Standard output and error of a command. With `--json`, standard output is one object, printed at the end. */
class Output {
  readonly json: boolean;
  /** Questions that stay below the output. */
  readonly questions = new Questions();
  readonly #quiet: boolean;
  readonly #warnings: string[] = [];

  constructor(options: Options) {
    this.json = options['json'] === true;
    this.#quiet = options['quiet'] === true;
  }

  progress(message: string): void {
    if (this.#quiet || this.json) return;
    this.questions.beforeOutput();
    process.stderr.write(`${printableMessage(message)}\n`);
  }

  print(line: string): void {
    if (this.json) return;
    this.questions.beforeOutput();
    process.stdout.write(`${forStdout(line)}\n`);
  }

  warn(message: string): void {
    if (this.#warnings.includes(message)) return;
    this.#warnings.push(message);
    if (this.json) return;
    this.questions.beforeOutput();
    process.stderr.write(`warning: ${printableMessage(message)}\n`);
  }

  finish({ exit = EXIT.done, text, data = {}, problems = [] }: CommandOutcome): void {
    if (this.json) {
      const ok = exit === EXIT.done || exit === EXIT.found;
      process.stdout.write(`${printJson({ ok, ...data, warnings: this.#warnings, errors: problems.map(problemJson) })}\n`);
      return;
    }
    if (text !== undefined && text !== '') process.stdout.write(forStdout(text.endsWith('\n') ? text : `${text}\n`));
    for (const problem of problems) process.stderr.write(`${problem.severity ?? 'error'}: ${printableMessage(printProblem(problem))}\n`);
  }
}

function contextOf(args: readonly string[], options: Options, output: Output, onServer: (client: ServerClient) => unknown): CommandContext {
  const environment = process.env;
  const cwd = process.cwd();
  let project: Promise<Project> | undefined;
  const open = async (needed: boolean): Promise<Project> => {
    const { openProject } = await import('../project/project.ts');
    const opened = openProject(cwd, projectFlags(options), environment, needed);
    for (const warning of opened.warnings) output.warn(warning);
    return opened;
  };
  const openOnce = (needed: boolean): Promise<Project> => {
    project ??= open(needed);
    return project;
  };
  const isInteractive = async (): Promise<boolean> => {
    const { settings } = await openOnce(false);
    return !output.json && settings.interactive && process.stdin.isTTY && process.stderr.isTTY;
  };
  let client: Promise<ServerClient> | undefined;
  const connect = async (): Promise<ServerClient> => {
    const { serverClient } = await import('../project/server-client.ts');
    const made = serverClient((await openOnce(false)).settings, (message) => output.progress(message));
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
    json: output.json,
    paint: painter(hasColoursOrForced(process.stdout.isTTY === true, environment)),
    progress: (message) => output.progress(message),
    beforeOutput: () => output.questions.beforeOutput(),
    print: (line) => output.print(line),
    warn: (message) => output.warn(message),
    project: () => openOnce(true),
    anyProject: () => openOnce(false),
    server() {
      client ??= connect();
      return client;
    },
    kinds: async () => (await import('../app/metadata-kinds.ts')).metadataKinds,
    async confirm(question) {
      if (options['yes'] === true) return true;
      if (!(await isInteractive())) throw failure('not-confirmed', `${question} Confirm it with --yes.`, {}, EXIT.usage);
      return /^y(?:es)?$/i.test(await output.questions.ask(`${question} [y/N] `));
    },
    async ask(question, fallback) {
      if (options['yes'] === true || !(await isInteractive())) return fallback;
      const answer = await output.questions.ask(`${question} [${fallback}] `);
      return answer === '' ? fallback : answer;
    },
  };
}

function projectFlags(options: Options) {
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
