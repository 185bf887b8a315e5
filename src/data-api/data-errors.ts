/** Errors of data operations, besides those about their source or table. */
import { type OperationErrors, refused } from '../metadata-api/operation-error.ts';

const ROW_ERRORS: OperationErrors = [
  refused('permission-denied', 'the role lacks the permission, or has it without this column'),
  refused('not-exists', 'the column or relationship does not exist'),
  refused('not-found', 'a permission needs a session variable that the request does not have'),
  refused('unexpected-payload', 'a condition, an order or a column has the wrong form'),
  refused('data-exception', 'a value does not fit the type of its column'),
];

export const READ_ERRORS: OperationErrors = [...ROW_ERRORS, refused('not-supported', '`limit` or `offset` is negative')];

export const WRITE_ERRORS: OperationErrors = [
  ...ROW_ERRORS,
  refused('not-supported', 'the table or the column does not support the change'),
  refused('constraint-violation', 'the change violates a unique, foreign key, not-null or exclusion constraint'),
  refused('validation-failed', 'the input validation hook of the permission refused the input'),
  refused('unexpected', 'the input validation hook of the permission could not be called'),
  refused('concurrent-update', 'another transaction changed the rows'),
];

const CHECK_FAILED = refused('permission-error', 'a row violates the check of the permission or a check constraint');

export const INSERT_ERRORS: OperationErrors = [
  ...WRITE_ERRORS,
  CHECK_FAILED,
  refused('constraint-error', 'the constraint of `on_conflict` does not exist'),
];

export const UPDATE_ERRORS: OperationErrors = [
  ...WRITE_ERRORS,
  CHECK_FAILED,
  refused('validation-failed', 'a column appears in more than one operator'),
];
