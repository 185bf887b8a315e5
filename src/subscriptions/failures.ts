import type { SvcError } from '../errors/svc-error.ts';

/** Outages of the database that are shorter than this are not reported to subscribers. */
export const AWAY_GRACE_MS = 5_000;

/** Returns true if the database is temporarily unavailable. */
export function isAway({ isTransient }: SvcError): boolean {
  return isTransient;
}

/** Returns true if an immediate retry would fail, too. */
export function isLasting({ code }: SvcError): boolean {
  return code !== 'timeout';
}
