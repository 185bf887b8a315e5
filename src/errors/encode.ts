import { type JsonObject, printJson } from '../util/json.ts';
import { shortened } from './shortened.ts';
import { SvcError } from './svc-error.ts';

/** Maximum length of messages and paths for clients, in characters. Those for administrators may contain lists of objects. */
const MAX_MESSAGE = 4000;
const MAX_ADMIN_MESSAGE = 100_000;
const MAX_PATH = 4000;

/** Converts a thrown value to an `SvcError`. Other values become `unexpected` without their text. */
export function toSvcError(thrown: unknown): SvcError {
  if (thrown instanceof SvcError) return thrown;
  return new SvcError('unexpected', 'internal error', { cause: thrown });
}

/** Returns an error in the form of log records. */
export function encodeLoggedError({ printedPath, code, message }: SvcError): {
  readonly path: string;
  readonly code: string;
  readonly message: string;
} {
  return { path: shortened(printedPath, MAX_PATH), code, message: shortened(message, MAX_MESSAGE) };
}

/** Returns `{path, error, code, suggestions?, internal?}`, the form of administration endpoints. */
export function encodeAdminError(error: SvcError, showInternal: boolean): JsonObject {
  return {
    path: shortened(error.printedPath, MAX_PATH),
    error: shortened(error.message, MAX_ADMIN_MESSAGE),
    code: error.shownCode ?? error.code,
    ...(error.remedies.length === 0 ? {} : { suggestions: error.remedies.map((text) => shortened(text)) }),
    ...(showInternal && error.internal !== undefined ? { internal: error.internal } : {}),
  };
}

/** Returns `{message, locations?, extensions: {path, code, suggestions?, internal?}}`, an entry of `errors` in a GraphQL response. */
export function encodeGraphqlError(error: SvcError, showInternal: boolean): JsonObject {
  return {
    message: shortened(error.message, MAX_MESSAGE),
    ...(error.locations === undefined ? {} : { locations: error.locations.map(({ line, column }) => ({ line, column })) }),
    extensions: {
      path: shortened(error.printedPath, MAX_PATH),
      code: error.shownCode ?? error.code,
      ...suggestionsOf(error),
      ...(showInternal && error.internal !== undefined ? { internal: error.internal } : {}),
    },
  };
}

/** Some messages are fixed, so explanations and remedies are listed with the suggestions. */
function suggestionsOf({ explanation, suggestions, remedies }: SvcError): JsonObject {
  const all = [...(explanation === undefined ? [] : [explanation]), ...(suggestions?.() ?? []), ...remedies];
  return all.length === 0 ? {} : { suggestions: all.map((text) => shortened(text)) };
}

/** Returns the body of a response without data: `{"errors":[…]}`. */
export function printGraphqlErrors(error: SvcError, showInternal: boolean): string {
  return printJson({ errors: error.graphqlErrors ?? [encodeGraphqlError(error, showInternal)] });
}
