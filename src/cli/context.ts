/** Input and result of a command of a project. */
import type { Backend } from '../backend/backend.ts';
import type { Kinds } from '../metadata/kinds.ts';
import type { ExitCode, Problem } from '../project/failure.ts';
import type { Project } from '../project/project.ts';
import type { ServerClient } from '../project/server-client.ts';
import type { JsonObject } from '../util/json.ts';
import type { Paint } from '../util/paint.ts';

export type OptionValue = string | boolean | readonly string[] | undefined;

export interface CommandContext {
  readonly args: readonly string[];
  /** Values by name, `dryRun` for `--dry-run`. */
  readonly options: Readonly<Record<string, OptionValue>>;
  /** Working directory. */
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Opens the project, once. @throws ProjectFailure */
  project(): Promise<Project>;
  /** Like `project`, but a folder without config.yaml will do. */
  anyProject(): Promise<Project>;
  /** @throws ProjectFailure */
  server(): Promise<ServerClient>;
  /** Database kinds of this version. Loading them takes a moment. */
  kinds(): Promise<Kinds<Backend>>;
  /** Prints a progress message to stderr, unless `--quiet` or `--json` is set. */
  progress(message: string): void;
  /** Prints a line of the result to stdout at once, unless `--json` is set. */
  print(line: string): void;
  /** Prints a warning to stderr, or adds it to `warnings` of `--json`. */
  warn(message: string): void;
  /**
   * Asks the user for confirmation; `--yes` confirms.
   * @throws ProjectFailure if the command does not run interactively
   */
  confirm(question: string): Promise<boolean>;
  /** Asks the user for a text. Returns the fallback for an empty answer, with `--yes`, and if the command does not run interactively. */
  ask(question: string, fallback: string): Promise<string>;
  /** Called before other output than that of this context: a question that is open is shown again below it. */
  beforeOutput(): void;
  /** Words of every command. */
  readonly commands: readonly (readonly string[])[];
  /** `--json` is set: `text` of the outcome is not printed. */
  readonly json: boolean;
  /** Colours for `text` of the outcome, if stdout shows them. */
  readonly paint: Paint;
}

export interface CommandOutcome {
  /** Defaults to 0. */
  readonly exit?: ExitCode;
  /** Printed to stdout. */
  readonly text?: string;
  /** Members of the object of `--json`, beside `ok`, `warnings` and `errors`. */
  readonly data?: JsonObject;
  /** Printed to stderr, and `errors` of `--json`. */
  readonly problems?: readonly Problem[];
  /** The process keeps running. */
  readonly running?: boolean;
}

export function textOption(context: CommandContext, name: string): string | undefined {
  const value = context.options[name];
  return typeof value === 'string' ? value : undefined;
}

export function flagOption(context: CommandContext, name: string): boolean {
  return context.options[name] === true;
}

export function listOption(context: CommandContext, name: string): readonly string[] {
  const value = context.options[name];
  return Array.isArray(value) ? (value as readonly string[]) : typeof value === 'string' ? [value] : [];
}
