import type { Json } from '../util/json.ts';
import { type Path, printPath, ROOT } from '../util/path.ts';
import { ERROR_STATUS, type ErrorCode } from './codes.ts';

/** Both count from 1. */
export interface TextLocation {
  readonly line: number;
  readonly column: number;
}

export interface SvcErrorOptions {
  readonly path?: Path;
  /** Details for administrators only: generated SQL, driver messages, inconsistency records. */
  readonly internal?: Json;
  /** Overrides the status of the code. */
  readonly status?: number;
  /** The status is the client's even where GraphQL errors are answered with 200: no GraphQL request has been made out. */
  readonly keepsStatus?: boolean;
  /** The errors of another GraphQL server, which a GraphQL response hands on as they are instead of this one. */
  readonly graphqlErrors?: readonly Json[];
  /** The code that clients get, where it is the word of a server of others. */
  readonly shownCode?: string;
  /** Where in the text of a GraphQL document. */
  readonly locations?: readonly TextLocation[];
  /** It is nobody's fault and soon over: a database is out of reach or busy. */
  readonly isPassing?: boolean;
  /** The connection broke while the transaction was committed: it may be committed or not. */
  readonly isUncertain?: boolean;
  readonly cause?: unknown;
  /** The message for those who may not know the schema, where `message` tells of it. */
  readonly discreetMessage?: string;
}

/** The one error type that leaves a room. Its message is safe to show to any client. */
export class SvcError extends Error {
  readonly code: ErrorCode;
  readonly path: Path;
  readonly internal: Json | undefined;
  readonly status: number;
  readonly keepsStatus: boolean;
  readonly isPassing: boolean;
  readonly isUncertain: boolean;
  readonly #discreetMessage: string | undefined;
  readonly graphqlErrors: readonly Json[] | undefined;
  readonly locations: readonly TextLocation[] | undefined;
  readonly shownCode: string | undefined;

  constructor(code: ErrorCode, message: string, options: SvcErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'SvcError';
    this.code = code;
    this.path = options.path ?? ROOT;
    this.internal = options.internal;
    this.status = options.status ?? ERROR_STATUS[code];
    this.keepsStatus = options.keepsStatus === true;
    this.isPassing = options.isPassing === true;
    this.isUncertain = options.isUncertain === true;
    this.#discreetMessage = options.discreetMessage;
    this.graphqlErrors = options.graphqlErrors;
    this.locations = options.locations;
    this.shownCode = options.shownCode;
  }

  /** The same error at another place. */
  withPath(path: Path): SvcError {
    return this.#with(this.message, path);
  }

  /** The same error without what its message tells of the schema. */
  forStrangers(): SvcError {
    return this.#discreetMessage === undefined ? this : this.#with(this.#discreetMessage, this.path);
  }

  #with(message: string, path: Path): SvcError {
    return new SvcError(this.code, message, {
      path,
      status: this.status,
      keepsStatus: this.keepsStatus,
      isPassing: this.isPassing,
      isUncertain: this.isUncertain,
      cause: this.cause,
      ...(this.internal === undefined ? {} : { internal: this.internal }),
      ...(this.#discreetMessage === undefined ? {} : { discreetMessage: this.#discreetMessage }),
      ...(this.graphqlErrors === undefined ? {} : { graphqlErrors: this.graphqlErrors }),
      ...(this.locations === undefined ? {} : { locations: this.locations }),
      ...(this.shownCode === undefined ? {} : { shownCode: this.shownCode }),
    });
  }

  get printedPath(): string {
    return printPath(this.path);
  }
}

/** Breaks with a clear message when something that cannot happen did. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`invariant: ${message}`);
}
