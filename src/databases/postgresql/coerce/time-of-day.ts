const CLOCK = /^\s*T?(?:(\d{1,2}):(\d{2})(?::(\d{2})(\.\d*)?)?|(\d{2})(\d{2})(?:(\d{2})(\.\d*)?)?)\s*(?:[ap]m)?\s*(.*?)\s*$/i;
/** Maximum length: the expressions take quadratic time. */
const MAX_LENGTH = 64;
const ZONE = /^(?:[a-z]{1,10}|[+-]\s*(\d{1,2})(?::?(\d{2})(?::?(\d{2}))?)?)?$/i;

/**
 * Returns whether a text is a time of day for `timetz`, with or without a zone (an offset or its abbreviation). Special words of the
 * database (`allballs`, `now`) and dates are not.
 */
export function isTimeOfDay(text: string): boolean {
  if (text.length > MAX_LENGTH) return false;
  const clock = CLOCK.exec(text);
  const zone = ZONE.exec(clock?.[9] ?? '');
  if (clock === null || zone === null) return false;
  const [hours, minutes, seconds] = [clock[1] ?? clock[5], clock[2] ?? clock[6], clock[3] ?? clock[7] ?? '0'].map(Number) as Three;
  const fraction = Number(`0${clock[4] ?? clock[8] ?? ''}0`);
  const [zoneHours, zoneMinutes, zoneSeconds] = [zone[1] ?? '0', zone[2] ?? '0', zone[3] ?? '0'].map(Number) as Three;
  const isClock = hours < 24 ? minutes < 60 && seconds <= 60 : hours === 24 && minutes + seconds + fraction === 0;
  return isClock && zoneHours < 16 && zoneMinutes < 60 && zoneSeconds < 60;
}

type Three = [number, number, number];
