import { type JsonObject, printJson } from '../util/json.ts';
import { SvcError } from './svc-error.ts';

/** Anything thrown, as an `SvcError`: what is not one is `unexpected` and keeps its text to itself. */
export function toSvcError(thrown: unknown): SvcError {
  if (thrown instanceof SvcError) return thrown;
  return new SvcError('unexpected', 'internal error', { cause: thrown });
}

/** `{path, error, code, internal?}` of the administration endpoints. */
export function encodeAdminError(error: SvcError, showInternal: boolean): JsonObject {
  return {
    path: error.printedPath,
    error: error.message,
    code: error.code,
    ...(showInternal && error.internal !== undefined ? { internal: error.internal } : {}),
  };
}

/** `{message, extensions: {path, code, internal?}}`, one entry of a GraphQL response's `errors`. */
export function encodeGraphqlError(error: SvcError, showInternal: boolean): JsonObject {
  return {
    message: error.message,
    extensions: {
      path: error.printedPath,
      code: error.code,
      ...(showInternal && error.internal !== undefined ? { internal: error.internal } : {}),
    },
  };
}

export function printGraphqlErrors(error: SvcError, showInternal: boolean): string {
  return printJson({ errors: error.graphqlErrors ?? [encodeGraphqlError(error, showInternal)] });
}
