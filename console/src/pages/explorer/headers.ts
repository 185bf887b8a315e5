/** The headers that are written for requests of the explorer. */
import { base } from '../../browser/place.ts';
import { isObject, parseJson } from '../../model/json.ts';
import type { HeaderFields } from '../../model/request-headers.ts';

/** Reads a JSON object of headers. @throws Error for what is no header, and for headers that a browser leaves out of requests */
export function readHeaders(text: string): HeaderFields {
  if (text.trim() === '') return {};
  const json = parseJson(text);
  if (!isObject(json)) throw new SyntaxError('they are an object of names and values');
  return Object.fromEntries(
    Object.entries(json).map(([name, value]) => {
      if (value === null || typeof value === 'object') throw new SyntaxError(`the value of ${name} is no text`);
      const given = String(value);
      if (!isSent(name, given)) throw new Error(`a browser does not send ${name}. Remove it here, and send it with curl: "Copy as curl".`);
      return [name, given];
    }),
  );
}

/** Whether a browser sends a header. It drops those that it keeps for itself, such as Cookie and Origin, without an error. */
function isSent(name: string, value: string): boolean {
  let { headers } = new Request(base);
  try {
    headers = new Headers([[name, value]]);
  } catch {
    throw new SyntaxError(`${name} is no header`);
  }
  return new Request(base, { headers }).headers.has(name);
}
