/** URLs of calls, as text that is normalised. */
import { escapeUri } from './template/functions.ts';

/** Scheme and authority, then what says whether there is a path. */
const ABSOLUTE = /^https?:\/\/[^/?#\\]+(\/)?/i;
/** URL parsers drop or turn these, so that another URL is called than the one that is read. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const NOT_IN_URL = /[\u0000-\u0020\u007f\\]/;

export type QueryParameter = readonly [name: string, value: string | null];

export interface WebAddress {
  readonly url: URL;
  /** Whether a path was written; `/` stands for one that was not. */
  readonly hasPath: boolean;
}

/** An absolute http or https URL; undefined for any other text. */
export function parseWebAddress(text: string): WebAddress | undefined {
  const absolute = ABSOLUTE.exec(text);
  if (absolute === null || NOT_IN_URL.test(text)) return undefined;
  try {
    return { url: new URL(text), hasPath: absolute[1] !== undefined };
  } catch {
    return undefined;
  }
}

/** Without a fragment, which is not sent. A query may follow the host directly. */
export function printWebAddress({ url, hasPath }: WebAddress): string {
  const printed = new URL(url);
  printed.hash = '';
  const { href, pathname, search } = printed;
  return hasPath || pathname !== '/' || search === '' ? href : href.replace('/?', '?');
}

/** @param query without question mark; empty for none */
export function withQuery({ url, hasPath }: WebAddress, query: string): WebAddress {
  const changed = new URL(url);
  changed.search = query;
  return { url: changed, hasPath };
}

/** Decoded; null for a name without `=`. */
export function queryParameters({ url }: WebAddress): readonly QueryParameter[] {
  return url.search
    .slice(1)
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const equals = part.indexOf('=');
      return equals < 0 ? [decode(part), null] : [decode(part.slice(0, equals)), decode(part.slice(equals + 1))];
    });
}

function decode(text: string): string {
  const spaced = text.replaceAll('+', ' ');
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced;
  }
}

/** `a=b&c`, for queries and forms. */
export function printParameters(parameters: readonly QueryParameter[]): string {
  return parameters.map(([name, value]) => escapeUri(name) + (value === null ? '' : `=${escapeUri(value)}`)).join('&');
}
