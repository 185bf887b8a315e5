/** The errors of operations as their entries list them, for the reference and for the tests that hold it to its word. */
import type { Backend } from '../backend/backend.ts';
import { ERROR_STATUS, type ErrorCode } from '../errors/codes.ts';

export interface OperationError {
  readonly code: ErrorCode;
  readonly status: number;
  /** The condition, as the end of a sentence. */
  readonly when: string;
}

export type OperationErrors = readonly OperationError[];

/** @param status where it is not that of the code */
export function refused(code: ErrorCode, when: string, status: number = ERROR_STATUS[code]): OperationError {
  return { code, status, when };
}

/** Of every operation. */
export const INVALID_ARGUMENTS = refused('parse-failed', 'the arguments do not have this form; `path` is the place');
/** Of every operation that makes a version of the metadata. */
export const STALE_VERSION = refused('conflict', 'the metadata is at another version than `resource_version`, or changes at the same time');

const NO_SOURCE = refused('not-exists', 'there is no such source, or it is of another kind');
const UNUSABLE_SOURCE = refused('unexpected', 'the source is inconsistent', 400);
/** Of operations that work within a source. */
export const SOURCE_ERRORS: OperationErrors = [NO_SOURCE, UNUSABLE_SOURCE];
/** Of operations on a tracked table. */
export const TABLE_ERRORS: OperationErrors = [...SOURCE_ERRORS, refused('not-exists', 'the table is not tracked')];
/** Of operations on a tracked function. */
export const FUNCTION_ERRORS: OperationErrors = [...SOURCE_ERRORS, refused('not-exists', 'the function is not tracked')];

/** Of operations that ask a database of one of these kinds. */
export function databaseErrors(...kinds: readonly Pick<Backend, 'errorCodes'>[]): OperationErrors {
  const codes = (of: 'failed' | 'noConnection') => [...new Set(kinds.map(({ errorCodes }) => errorCodes[of]))];
  return [
    ...codes('failed').map((code) => refused(code, 'the database is out of reach', 500)),
    ...codes('noConnection').map((code) => refused(code, 'no connection to the database is free', 503)),
    refused('timeout', 'the time limit passed, or the client went away'),
  ];
}

export const INCONSISTENT = refused(
  'invalid-configuration',
  'the object would not fit the database or the rest of the metadata; `internal` holds the records',
);
export const BREAKS_OTHERS = refused('unexpected', 'other objects would be inconsistent; `internal` holds the records', 400);
export const NAME_TAKEN = refused('unexpected', 'a root field would have the name of another one', 400);
export const BAD_NAME = refused('validation-failed', 'a constraint or a type of the table has a name that GraphQL cannot have');
export const DEPENDENTS = refused('dependency-error', 'other objects depend on it and `cascade` is false; the message lists them');
