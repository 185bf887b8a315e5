/** Problems of a project, with their places in files. */

import type { JsonObject } from '../util/json.ts';

/** Exit codes of commands. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  /** The command found differences or pending work, and an option asks for this exit code. */
  found: 3,
  inconsistent: 4,
  /** The endpoint cannot be reached, or refuses the client. */
  unreachable: 5,
  /** SIGINT. */
  interrupted: 130,
  /** SIGTERM. */
  terminated: 143,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export interface Problem {
  /** `yaml`, `include`, `missing-file`, or a code of the server. */
  readonly code: string;
  readonly message: string;
  /** Relative to the project if the file is in it. */
  readonly file?: string;
  /** From 1. */
  readonly line?: number;
  readonly column?: number;
  /** Path in the document: `$.sources[0].tables[3]`. */
  readonly path?: string;
  /** `warning` for a problem that may be intended. Defaults to an error. */
  readonly severity?: 'warning';
}

/** Place in a file from which a part of the document was read. */
export type FilePlace = Pick<Problem, 'file' | 'line' | 'column'>;

/** Returns the problems that are not warnings. */
export function errorsIn(problems: readonly Problem[]): readonly Problem[] {
  return problems.filter(({ severity }) => severity === undefined);
}

/** Ends a command with all problems that were found. */
export class ProjectFailure extends Error {
  readonly problems: readonly Problem[];
  readonly exit: ExitCode;

  constructor(problems: readonly Problem[], exit: ExitCode = EXIT.failed) {
    super(problems.map(printProblem).join('\n'));
    this.name = 'ProjectFailure';
    this.problems = problems;
    this.exit = exit;
  }
}

/** Makes an error with one problem. */
export function failure(code: string, message: string, place: Omit<Problem, 'code' | 'message'> = {}, exit?: ExitCode): ProjectFailure {
  return new ProjectFailure([{ code, message, ...place }], exit);
}

/** `metadata/databases.yaml:3:5: message` */
export function printProblem({ file, line, column, message, path }: Problem): string {
  const where = file === undefined ? '' : `${[file, line, column].filter((part) => part !== undefined).join(':')}: `;
  return `${where}${message}${path === undefined || file !== undefined ? '' : ` (at ${path})`}`;
}

/** Returns the defined members of a problem. */
export function problemJson({ code, message, file, line, column, path, severity }: Problem): JsonObject {
  const all = { code, message, file, line, column, path, severity };
  return Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string | number] => entry[1] !== undefined));
}

/** Returns the message of anything that was thrown. */
export function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
