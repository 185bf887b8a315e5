import type { OutboundResponse } from '../http-client/request.ts';

/** Maximum delay, one year in seconds: longer ones make no difference, and could overflow the database's type. */
const MAX_DELAY_S = 366 * 24 * 60 * 60;
const SECONDS = /^\s*(\d+)\s*$/;
const HTTP_DATE =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * Returns the delay that a response requests (`Retry-After`, a number or a date), in seconds, at most one year.
 * @param now epoch milliseconds
 * @returns `null` if there is no such header or its time has passed
 */
export function retryAfter({ headers }: Pick<OutboundResponse, 'headers'>, now: number): number | null {
  const value = [headers['retry-after'] ?? []].flat().at(-1);
  if (value === undefined) return null;
  const seconds = SECONDS.exec(value)?.[1];
  const delay = seconds === undefined ? secondsUntil(value.trim(), now) : Number(seconds);
  return delay > 0 ? Math.min(delay, MAX_DELAY_S) : null;
}

function secondsUntil(date: string, now: number): number {
  if (!HTTP_DATE.test(date)) return 0;
  const time = Date.parse(date);
  return Number.isNaN(time) ? 0 : Math.ceil((time - now) / 1000);
}
