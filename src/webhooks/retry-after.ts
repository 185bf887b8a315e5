import type { OutboundResponse } from '../http-client/request.ts';

/** A receiver that asks for more waits no less than somebody who has time; and no database overflows. */
const LONGEST_S = 366 * 24 * 60 * 60;
const SECONDS = /^\s*(\d+)\s*$/;
const HTTP_DATE =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * After how many seconds the answer asks to be called again (`Retry-After`, a number or a date), a year at most.
 * @param now epoch milliseconds
 * @returns null where it does not say, or says nothing that lies ahead
 */
export function retryAfter({ headers }: Pick<OutboundResponse, 'headers'>, now: number): number | null {
  const value = [headers['retry-after'] ?? []].flat().at(-1);
  if (value === undefined) return null;
  const seconds = SECONDS.exec(value)?.[1];
  const wait = seconds === undefined ? secondsUntil(value.trim(), now) : Number(seconds);
  return wait > 0 ? Math.min(wait, LONGEST_S) : null;
}

function secondsUntil(date: string, now: number): number {
  if (!HTTP_DATE.test(date)) return 0;
  const time = Date.parse(date);
  return Number.isNaN(time) ? 0 : Math.ceil((time - now) / 1000);
}
