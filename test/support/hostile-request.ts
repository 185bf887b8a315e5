/** Helpers that write requests which keep a server busy. */
export const MEGABYTE = 1_000_000;

export interface HostileRequest {
  readonly name: string;
  /** The body of the request. */
  body(): string;
}

/** `text` repeated and numbered, up to a length. */
export function fill(length: number, text: (n: number) => string): string {
  const parts: string[] = [];
  for (let n = 0, total = 0; total < length; n++) {
    const part = text(n);
    parts.push(part);
    total += Buffer.byteLength(part);
  }
  return parts.join('');
}

export const times = (count: number, text: (n: number) => string): string => Array.from({ length: count }, (_, n) => text(n)).join('');
/** A JSON list. */
export const list = (count: number, item: (n: number) => string): string => `[${Array.from({ length: count }, (_, n) => item(n)).join()}]`;
export const nest = (levels: number, open: string, inner: string, close: string): string =>
  open.repeat(levels) + inner + close.repeat(levels);
export const request = (query: string, variables?: string): string =>
  `{"query":${JSON.stringify(query)}${variables === undefined ? '' : `,"variables":${variables}`}}`;

export function document(name: string, query: () => string, variables?: () => string): HostileRequest {
  return { name, body: () => request(query(), variables?.()) };
}
