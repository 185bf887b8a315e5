/** Errors of operations, as listed in the reference and verified by tests. */
import type { Backend } from '../backend/backend.ts';
import { ERROR_STATUS, type ErrorCode } from '../errors/codes.ts';

export interface OperationError {
  readonly code: ErrorCode;
  readonly status: number;
  /** Condition, as the end of a sentence. */
  readonly when: string;
}

export type OperationErrors = readonly OperationError[];

/** @param status defaults to that of the code */
export function refused(code: ErrorCode, when: string, status: number = ERROR_STATUS[code]): OperationError {
  return { code, status, when };
}

/** Error of every operation. */
export const INVALID_ARGUMENTS = refused('parse-failed', 'the arguments are invalid; `path` is the place');
/** Error of every operation that changes the metadata. */
export const STALE_VERSION = refused('conflict', 'the metadata has another version than `resource_version`, or changes at the same time');

const NO_SOURCE = refused('not-exists', 'the source does not exist, or has another kind');
const UNUSABLE_SOURCE = refused('unexpected', 'the source is inconsistent', 400);
/** Errors of operations within a source. */
export const SOURCE_ERRORS: OperationErrors = [NO_SOURCE, UNUSABLE_SOURCE];
/** Errors of operations on a tracked table. */
export const TABLE_ERRORS: OperationErrors = [...SOURCE_ERRORS, refused('not-exists', 'the table is not tracked')];
/** Errors of operations on a tracked function. */
export const FUNCTION_ERRORS: OperationErrors = [...SOURCE_ERRORS, refused('not-exists', 'the function is not tracked')];

/** Returns the errors of operations that use a database of one of these kinds. */
export function databaseErrors(...kinds: readonly Pick<Backend, 'errorCodes'>[]): OperationErrors {
  const codes = (of: 'failed' | 'noConnection') => [...new Set(kinds.map(({ errorCodes }) => errorCodes[of]))];
  return [
    ...codes('failed').map((code) => refused(code, 'the database is unreachable', 500)),
    ...codes('noConnection').map((code) => refused(code, 'no connection to the database is free', 503)),
    refused('timeout', 'the timeout passed, or the client disconnected'),
  ];
}

export const INCONSISTENT = refused(
  'invalid-configuration',
  'the object does not fit the database or the rest of the metadata; `internal` has the records',
);
export const BREAKS_OTHERS = refused('unexpected', 'other objects would become inconsistent; `internal` has the records', 400);
export const NAME_TAKEN = refused('unexpected', 'a root field would have the same name as another one', 400);
export const BAD_NAME = refused('validation-failed', 'a constraint or a type of the table has a name that is invalid in GraphQL');
export const DEPENDENTS = refused('dependency-error', 'other objects depend on it and `cascade` is false; the message lists them');
