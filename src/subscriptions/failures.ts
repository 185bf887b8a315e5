import type { SvcError } from '../errors/svc-error.ts';

/** Subscribers are not told of a database that is back before this. */
export const PATIENCE_MS = 5_000;

/** The database is out of reach: nobody's fault, and soon over. */
export function isAway({ isPassing }: SvcError): boolean {
  return isPassing;
}

/** Would fail again if it were tried at once. */
export function isLasting({ code }: SvcError): boolean {
  return code !== 'timeout';
}
