/** Dates and times as texts of the database, and as values of the browser's pickers. */

/** An instant has the offset of its time zone; the others do not depend on a time zone. */
export type TimeKind = 'date' | 'time' | 'datetime' | 'instant';

function two(number: number): string {
  return String(number).padStart(2, '0');
}

function dateOf(at: Date): string {
  return `${String(at.getFullYear()).padStart(4, '0')}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

function timeOf(at: Date): string {
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** Offset of the browser's time zone at a time, such as `+02:00`. */
function offsetOf(at: Date): string {
  const minutes = -at.getTimezoneOffset();
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`;
}

/** Prints a time in the browser's time zone, an instant with its offset. */
export function localTime(at: Date, kind: TimeKind): string {
  if (kind === 'date') return dateOf(at);
  if (kind === 'time') return timeOf(at);
  return `${dateOf(at)}T${timeOf(at)}${kind === 'instant' ? offsetOf(at) : ''}`;
}

/** Returns the text for a picked value such as `2026-11-29T14:03`; an instant gets the offset of the browser's time zone at that time. */
export function pickedTime(value: string, kind: TimeKind): string {
  return kind === 'instant' ? localTime(new Date(value), kind) : value;
}

/** Returns the value that a picker shows for a text; empty for a text that it cannot show, such as `infinity`. */
export function timeForPicker(text: string, kind: TimeKind): string {
  if (kind === 'date') return /^\d{4}-\d{2}-\d{2}$/.test(text) ? text : '';
  if (kind === 'time') return /^\d{2}:\d{2}(?::\d{2})?/.exec(text)?.[0] ?? '';
  const at = new Date(text.replace(' ', 'T'));
  return Number.isNaN(at.getTime()) ? '' : `${dateOf(at)}T${timeOf(at)}`;
}
