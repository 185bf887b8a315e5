/** Validation of dates and times; those without a zone are in UTC. */

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;
const TIME = /^-?\d{1,3}:[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?$/;
const MOMENT = /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(\.\d{1,9})?)?)?\s*(Z|z|[+-]\d{2}(?::?\d{2})?)?$/;

/** @returns normalised text in UTC, or `null` for an invalid value */
export function momentText(kind: 'date' | 'time' | 'datetime' | 'timestamp', text: string): string | null {
  const trimmed = text.trim();
  if (kind === 'date') return DATE.test(trimmed) && isDate(trimmed) ? trimmed : null;
  if (kind === 'time') return TIME.test(trimmed) ? trimmed : null;
  const found = MOMENT.exec(trimmed);
  if (found === null || !isDate(trimmed.slice(0, 10))) return null;
  const [, year, month, day, hour = '00', minute = '00', second = '00', fraction = '', zone] = found;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return null;
  const tail = fraction.slice(0, 7);
  const offset = minutesOf(zone);
  if (offset === null) return null;
  if (offset === 0) return `${year}-${month}-${day} ${hour}:${minute}:${second}${tail}`;
  const at = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`).getTime() - offset * 60_000;
  const utc = new Date(at);
  // A year outside of 0 to 9999 has another text, and does not exist in the database.
  if (utc.getUTCFullYear() < 0 || utc.getUTCFullYear() > 9999) return null;
  return `${utc.toISOString().slice(0, 19).replace('T', ' ')}${tail}`;
}

function minutesOf(zone: string | undefined): number | null {
  if (zone === undefined || zone === 'Z' || zone === 'z') return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(':', ''));
  if (hours > 15 || minutes > 59) return null;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}

function isDate(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}
