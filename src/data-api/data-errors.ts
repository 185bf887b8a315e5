/** Why operations on rows are refused, beside what is wrong with their source or table. */
import { type OperationErrors, refused } from '../metadata-api/operation-error.ts';

const ROW_ERRORS: OperationErrors = [
  refused('permission-denied', 'the role may not do this, or not with this column'),
  refused('not-exists', 'there is no such column or relationship'),
  refused('not-found', 'a permission needs a session variable that the request does not have'),
  refused('unexpected-payload', 'a condition, an order or a column is not written as it has to be'),
  refused('data-exception', 'a value is none of the type of its column'),
];

export const READ_ERRORS: OperationErrors = [...ROW_ERRORS, refused('not-supported', '`limit` or `offset` is negative')];

export const WRITE_ERRORS: OperationErrors = [
  ...ROW_ERRORS,
  refused('not-supported', 'the table or the column takes no such change'),
  refused('constraint-violation', 'a unique, foreign key, not-null or exclusion constraint refuses the change'),
  refused('validation-failed', 'the hook of the permission refuses the input'),
  refused('unexpected', 'the hook of the permission cannot be asked'),
  refused('concurrent-update', 'another transaction changed the rows'),
];

const CHECK_FAILED = refused('permission-error', 'a row would break the check of the permission or of a constraint');

export const INSERT_ERRORS: OperationErrors = [
  ...WRITE_ERRORS,
  CHECK_FAILED,
  refused('constraint-error', 'there is no constraint as `on_conflict` names it'),
];

export const UPDATE_ERRORS: OperationErrors = [
  ...WRITE_ERRORS,
  CHECK_FAILED,
  refused('validation-failed', 'a column is in more than one operator'),
];
