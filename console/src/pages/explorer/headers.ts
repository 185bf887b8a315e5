/** Custom headers for requests of the explorer. */
import { base } from '../../browser/place.ts';
import { isObject, parseJsonText } from '../../model/json.ts';
import type { HeaderFields } from '../../model/request-headers.ts';

/** Reads a JSON object of headers. @throws Error for invalid headers, and for headers that browsers do not send */
export function readHeaders(text: string): HeaderFields {
  if (text.trim() === '') return {};
  const json = parseJsonText(text);
  if (!isObject(json)) throw new SyntaxError('expected a JSON object');
  return Object.fromEntries(
    Object.entries(json).map(([name, value]) => {
      if (value === null || typeof value === 'object') throw new SyntaxError(`the value of ${name} must be a string`);
      const text = String(value);
      if (!isSent(name, text))
        throw new Error(`browsers do not send the header ${name}. Remove it here; to send it, use "Copy as curl" and add it there.`);
      return [name, text];
    }),
  );
}

/** Returns true if the browser sends a header. It silently drops reserved ones, such as Cookie and Origin. */
function isSent(name: string, value: string): boolean {
  let { headers } = new Request(base);
  try {
    headers = new Headers([[name, value]]);
  } catch {
    throw new SyntaxError(`${name} is not a valid header`);
  }
  return new Request(base, { headers }).headers.has(name);
}
