const DATE = String.raw`(\d{4})(-?)(\d{2})\2(\d{2})`;
const TIME = String.raw`(\d{2})(:?)(\d{2})(?:\6(\d{2})(?:[.,](\d{1,9}))?)?`;
const ZONE = String.raw`([Zz]|[+-]\d{2}(?::?\d{2})?)`;
const ISO_TIME = new RegExp(`^${DATE}(?:[Tt ]${TIME}${ZONE}?)?$`);

/**
 * Normalises a time of RFC 3339 or ISO 8601, in extended (`2024-05-01T10:00:00Z`) or basic form (`20240501T100000Z`). Without a zone it is
 * in UTC; a date alone means midnight in UTC.
 * @returns the extended form with a zone, which databases accept; `undefined` for invalid text
 */
export function isoTime(text: string): string | undefined {
  const found = ISO_TIME.exec(text);
  if (found === null) return undefined;
  const [, year = '', , month = '', day = '', hour = '00', , minute = '00', second = '00', fraction, zone = 'Z'] = found;
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  const isDate = Number(year) >= 100 && date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone) ?? [];
  // 60 is a leap second.
  const isTime = Number(hour) <= 23 && Number(minute) <= 59 && Number(second) <= 60 && Number(hours) <= 15 && Number(minutes) <= 59;
  if (!isDate || !isTime) return undefined;
  const offset = sign === undefined ? 'Z' : `${sign}${hours}:${minutes.padStart(2, '0')}`;
  return `${year}-${month}-${day}T${hour}:${minute}:${second}${fraction === undefined ? '' : `.${fraction}`}${offset}`;
}
