/** What whoever asks is ready to hold of the answers of databases. */
import { SvcError } from '../errors/svc-error.ts';

export interface Intake {
  /** Before so many bytes more are kept. False: they are not to be, and no more is wanted. */
  take(bytes: number): boolean;
  /** So many are not kept after all. */
  giveBack(bytes: number): void;
  /** Why no more was wanted. @param isDone what was to be written is written all the same */
  refusal(isDone: boolean): SvcError;
}

/** @param message what is too large */
export function intakeRefusal(message: string, isDone: boolean): SvcError {
  return new SvcError('bad-request', isDone ? `${message}; what was to be changed is changed` : message);
}
