/** Normalised URLs of calls. */
import { escapeUri } from './template/functions.ts';

/** Scheme and authority; the group matches if there is a path. */
const ABSOLUTE = /^https?:\/\/[^/?#\\]+(\/)?/i;
/** Characters that URL parsers drop or convert, so that the called URL would differ from the written one. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: matches control characters on purpose
const NOT_IN_URL = /[\u0000-\u0020\u007f\\]/;

export type UrlParameter = readonly [name: string, value: string | null];

export interface WebAddress {
  readonly url: URL;
  /** False if no path was written; the URL then has `/`. */
  readonly hasPath: boolean;
}

/** Parses an absolute http or https URL; `undefined` for any other text. */
export function parseWebAddress(text: string): WebAddress | undefined {
  const absolute = ABSOLUTE.exec(text);
  if (absolute === null || NOT_IN_URL.test(text)) return undefined;
  try {
    return { url: new URL(text), hasPath: absolute[1] !== undefined };
  } catch {
    return undefined;
  }
}

/** Prints the URL without a fragment, which is not sent. A query may follow the host directly. */
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

/** Returns the decoded parameters; the value is `null` for a name without `=`. */
export function urlParameters({ url }: WebAddress): readonly UrlParameter[] {
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

/** Prints parameters for queries and forms, e.g. `a=b&c`. */
export function printParameters(parameters: readonly UrlParameter[]): string {
  return parameters.map(([name, value]) => escapeUri(name) + (value === null ? '' : `=${escapeUri(value)}`)).join('&');
}
