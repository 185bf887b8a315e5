import type { Json } from '../util/json.ts';
import { type Path, printPath, ROOT } from '../util/path.ts';
import { ERROR_STATUS, type ErrorCode } from './codes.ts';

/** Position in a document; line and column start at 1. */
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
  /** Keeps the status even where GraphQL errors have status 200, because no GraphQL request was recognised. */
  readonly keepsStatus?: boolean;
  /** Errors of a remote GraphQL server, which a GraphQL response forwards unchanged instead of this one. */
  readonly graphqlErrors?: readonly Json[];
  /** Code for clients, if a remote server supplied it. */
  readonly shownCode?: string;
  /** Positions in the GraphQL document. */
  readonly locations?: readonly TextLocation[];
  /** Finds names of the role's schema that the client probably meant, at most three. Called only if the client sees them. */
  readonly suggestions?: () => readonly string[];
  /** For a syntax error: what was expected and found. */
  readonly explanation?: string;
  /** Sentences that say what to do, for errors whose message is fixed. Shown to every client. */
  readonly remedies?: readonly string[];
  /** The error is transient: a database is unreachable or busy. */
  readonly isTransient?: boolean;
  /** The database cannot be reached or used at all. */
  readonly isUnreachable?: boolean;
  /** The connection broke during the commit: the transaction may be committed or not. */
  readonly isUncertain?: boolean;
  readonly cause?: unknown;
  /** Message for clients that may not see the schema, if `message` reveals it. */
  readonly redactedMessage?: string;
}

const NO_SUGGESTIONS = (): readonly string[] => [];

/** The only error type that crosses a room's border. Its message is safe for any client. */
export class SvcError extends Error {
  readonly code: ErrorCode;
  readonly path: Path;
  readonly internal: Json | undefined;
  readonly status: number;
  readonly keepsStatus: boolean;
  readonly isTransient: boolean;
  readonly isUnreachable: boolean;
  readonly isUncertain: boolean;
  readonly #redactedMessage: string | undefined;
  readonly graphqlErrors: readonly Json[] | undefined;
  readonly locations: readonly TextLocation[] | undefined;
  readonly suggestions: (() => readonly string[]) | undefined;
  readonly explanation: string | undefined;
  readonly remedies: readonly string[];
  readonly shownCode: string | undefined;

  constructor(code: ErrorCode, message: string, options: SvcErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'SvcError';
    this.code = code;
    this.path = options.path ?? ROOT;
    this.internal = options.internal;
    this.status = options.status ?? ERROR_STATUS[code];
    this.keepsStatus = options.keepsStatus === true;
    this.isTransient = options.isTransient === true;
    this.isUnreachable = options.isUnreachable === true;
    this.isUncertain = options.isUncertain === true;
    this.#redactedMessage = options.redactedMessage;
    this.graphqlErrors = options.graphqlErrors;
    this.locations = options.locations;
    this.suggestions = options.suggestions;
    this.explanation = options.explanation;
    this.remedies = options.remedies ?? [];
    this.shownCode = options.shownCode;
  }

  /** Returns the error at another path. */
  withPath(path: Path): SvcError {
    return this.#with({ path });
  }

  /** Returns the error with positions in the GraphQL document. */
  withLocations(locations: readonly TextLocation[]): SvcError {
    return this.#with({ locations });
  }

  /** Returns the error with details for administrators. */
  withInternal(internal: Json): SvcError {
    return this.#with({ internal });
  }

  /** Returns the error with further sentences that say what to do. */
  withRemedies(remedies: readonly string[]): SvcError {
    return this.#with({ remedies: [...this.remedies, ...remedies] });
  }

  /** Returns the error with a message that does not reveal the schema, and without suggestions. */
  redacted(): SvcError {
    if (this.#redactedMessage === undefined && this.suggestions === undefined) return this;
    return this.#with({ message: this.#redactedMessage ?? this.message, suggestions: NO_SUGGESTIONS });
  }

  /** Creates an error of the same class. */
  protected copy(message: string, options: SvcErrorOptions): SvcError {
    return new SvcError(this.code, message, options);
  }

  #with({ message = this.message, ...changed }: SvcErrorOptions & { readonly message?: string }): SvcError {
    return this.copy(message, {
      path: this.path,
      status: this.status,
      keepsStatus: this.keepsStatus,
      isTransient: this.isTransient,
      isUnreachable: this.isUnreachable,
      isUncertain: this.isUncertain,
      cause: this.cause,
      ...(this.internal === undefined ? {} : { internal: this.internal }),
      ...(this.#redactedMessage === undefined ? {} : { redactedMessage: this.#redactedMessage }),
      ...(this.graphqlErrors === undefined ? {} : { graphqlErrors: this.graphqlErrors }),
      ...(this.locations === undefined ? {} : { locations: this.locations }),
      ...(this.suggestions === undefined ? {} : { suggestions: this.suggestions }),
      ...(this.explanation === undefined ? {} : { explanation: this.explanation }),
      remedies: this.remedies,
      ...(this.shownCode === undefined ? {} : { shownCode: this.shownCode }),
      ...changed,
    });
  }

  get printedPath(): string {
    return printPath(this.path);
  }
}

/** Throws if an invariant is broken. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`invariant: ${message}`);
}
