/** A memory budget for query results. */
import { SvcError } from '../errors/svc-error.ts';

export interface ResultBudget {
  /** Called before more bytes are held. Returns false if they exceed the budget, which ends the query. */
  take(bytes: number): boolean;
  /** Called after bytes are no longer held. */
  release(bytes: number): void;
  /** Called before held bytes are printed once more while the response is sent. Returns the same as `take`. */
  print(bytes: number): boolean;
  /** Returns the error for an exceeded budget. @param isDone whether a mutation has been committed */
  refusal(isDone: boolean): SvcError;
}

/** @param message names the part that is too large */
export function budgetExceeded(message: string, isDone: boolean): SvcError {
  return new SvcError('bad-request', isDone ? committedWithoutAnswer(message) : message);
}

/** Returns the message for a committed mutation whose answer cannot be sent. */
export function committedWithoutAnswer(message: string): string {
  return `${message}. The mutation was committed; its answer was not sent`;
}
