/** What went wrong with a project, told so that people and programs find the place. */

/** How a command ends. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  /** Differences or pending work were found, where that was asked for. */
  found: 3,
  inconsistent: 4,
  /** The endpoint cannot be reached or refuses the caller. */
  unreachable: 5,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export interface Problem {
  /** `yaml`, `include`, `missing-file`, or a code of the server. */
  readonly code: string;
  readonly message: string;
  /** As people write it: relative to the project where the file is inside. */
  readonly file?: string;
  /** From 1. */
  readonly line?: number;
  readonly column?: number;
  /** In the document: `$.sources[0].tables[3]`. */
  readonly path?: string;
  /** It may be meant so; absent: it is an error. */
  readonly severity?: 'warning';
}

/** Ends a command; carries everything that was found, not only the first. */
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

/** One problem, as an error to be thrown. */
export function failure(code: string, message: string, place: Omit<Problem, 'code' | 'message'> = {}, exit?: ExitCode): ProjectFailure {
  return new ProjectFailure([{ code, message, ...place }], exit);
}

/** `metadata/databases.yaml:3:5: message` */
export function printProblem({ file, line, column, message, path }: Problem): string {
  const where = file === undefined ? '' : `${[file, line, column].filter((part) => part !== undefined).join(':')}: `;
  return `${where}${message}${path === undefined || file !== undefined ? '' : ` (at ${path})`}`;
}

/** Text for messages of whatever was thrown. */
export function reasonOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
