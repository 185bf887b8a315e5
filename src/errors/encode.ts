import { type JsonObject, printJson } from '../util/json.ts';
import { shortened } from './shortened.ts';
import { SvcError } from './svc-error.ts';

/** Characters of the messages and paths that clients get; there are lists of objects in those for administrators. */
const LONGEST_MESSAGE = 4000;
const LONGEST_ADMIN_MESSAGE = 100_000;
const LONGEST_PATH = 4000;

/** Anything thrown, as an `SvcError`: what is not one is `unexpected` and keeps its text to itself. */
export function toSvcError(thrown: unknown): SvcError {
  if (thrown instanceof SvcError) return thrown;
  return new SvcError('unexpected', 'internal error', { cause: thrown });
}

/** What the log tells of an error. */
export function encodeLoggedError({ printedPath, code, message }: SvcError): {
  readonly path: string;
  readonly code: string;
  readonly message: string;
} {
  return { path: shortened(printedPath, LONGEST_PATH), code, message: shortened(message, LONGEST_MESSAGE) };
}

/** `{path, error, code, internal?}` of the administration endpoints. */
export function encodeAdminError(error: SvcError, showInternal: boolean): JsonObject {
  return {
    path: shortened(error.printedPath, LONGEST_PATH),
    error: shortened(error.message, LONGEST_ADMIN_MESSAGE),
    code: error.shownCode ?? error.code,
    ...(showInternal && error.internal !== undefined ? { internal: error.internal } : {}),
  };
}

/** `{message, locations?, extensions: {path, code, internal?}}`, one entry of a GraphQL response's `errors`. */
export function encodeGraphqlError(error: SvcError, showInternal: boolean): JsonObject {
  return {
    message: shortened(error.message, LONGEST_MESSAGE),
    ...(error.locations === undefined ? {} : { locations: error.locations.map(({ line, column }) => ({ line, column })) }),
    extensions: {
      path: shortened(error.printedPath, LONGEST_PATH),
      code: error.shownCode ?? error.code,
      ...(showInternal && error.internal !== undefined ? { internal: error.internal } : {}),
    },
  };
}

/** The body of an answer without data: `{"errors":[…]}`. */
export function printGraphqlErrors(error: SvcError, showInternal: boolean): string {
  return printJson({ errors: error.graphqlErrors ?? [encodeGraphqlError(error, showInternal)] });
}
