/** What a command of the command line is given, and what it gives back. */
import type { Backend } from '../backend/backend.ts';
import type { Kinds } from '../metadata/kinds.ts';
import type { ExitCode, Problem } from '../project/failure.ts';
import type { Project } from '../project/project.ts';
import type { ServerClient } from '../project/server-client.ts';
import type { JsonObject } from '../util/json.ts';

export type OptionValue = string | boolean | readonly string[] | undefined;

export interface Call {
  readonly args: readonly string[];
  readonly options: Readonly<Record<string, OptionValue>>;
  /** Where it was called. */
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Opens the project, once. @throws ProjectFailure */
  project(): Promise<Project>;
  /** The same where a folder without config.yaml will do. */
  anyProject(): Promise<Project>;
  /** @throws ProjectFailure */
  server(): Promise<ServerClient>;
  /** The kinds of sources of this version; loading them takes a moment. */
  kinds(): Promise<Kinds<Backend>>;
  /** Told on the way, on stderr; not with --quiet. */
  tell(message: string): void;
  /** A line of the result that is there before the rest: printed to stdout at once; not with --json. */
  print(line: string): void;
  /** Told at the end, and among `warnings` of --json. */
  warn(message: string): void;
  /**
   * Asks whether to go on; yes with --yes.
   * @throws ProjectFailure when nobody can be asked
   */
  confirm(question: string): Promise<boolean>;
  /** The words of every command there is. */
  readonly commands: readonly (readonly string[])[];
  /** Whether --json was given: then `text` of the outcome is not printed. */
  readonly json: boolean;
}

export interface Outcome {
  readonly exit?: ExitCode;
  /** Printed to stdout. */
  readonly text?: string;
  /** Members of the object of --json, beside `ok`, `warnings` and `errors`. */
  readonly data?: JsonObject;
  /** Printed to stderr, and `errors` of --json. */
  readonly problems?: readonly Problem[];
  /** The process goes on. */
  readonly running?: boolean;
}

/** Text of an option; undefined where it was not given. */
export function textOption(call: Call, name: string): string | undefined {
  const value = call.options[name];
  return typeof value === 'string' ? value : undefined;
}

export function flagOption(call: Call, name: string): boolean {
  return call.options[name] === true;
}

export function listOption(call: Call, name: string): readonly string[] {
  const value = call.options[name];
  return Array.isArray(value) ? (value as readonly string[]) : typeof value === 'string' ? [value] : [];
}
