/** What whoever asks is ready to hold of the answers of databases. */
import { SvcError } from '../errors/svc-error.ts';

export interface ResultBudget {
  /** Before so many bytes more are kept. False: they are not to be, and no more is wanted. */
  take(bytes: number): boolean;
  /** So many are not kept after all. */
  giveBack(bytes: number): void;
  /** Before so many bytes more are printed of what is kept already. They are made while they are sent. @returns as `take` */
  print(bytes: number): boolean;
  /** Why no more was wanted. @param isDone what was to be written is written all the same */
  refusal(isDone: boolean): SvcError;
}

/** @param message what is too large */
export function intakeRefusal(message: string, isDone: boolean): SvcError {
  return new SvcError('bad-request', isDone ? doneWithout(message) : message);
}

/** The message for a mutation whose changes stand, though its answer cannot be sent. */
export function doneWithout(message: string): string {
  return `${message}. The mutation was committed; its answer was not sent`;
}
