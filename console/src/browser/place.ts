/** Where the page and the service are, and the route in the URL's fragment: it reaches no server and no log. */
import { signal } from '@preact/signals';

/** The service's address, relative to the page, which is at `…/console/`: ends with a slash. */
export const base = new URL('../', document.baseURI).href;

/** A route: `#/data/default/public.album?tab=permissions`. */
export interface Place {
  /** Decoded. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

export const place = signal<Place>(read());

/** A fragment for a link. Values that are undefined are left out. */
export function hrefOf(path: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const search = new URLSearchParams(given).toString();
  return `#/${path.map(encodeURIComponent).join('/')}${search === '' ? '' : `?${search}`}`;
}

export function go(path: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): void {
  location.hash = hrefOf(path, query);
}

/** Changes the query of the current route without a new entry in the history. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>): void {
  const { path, query } = place.peek();
  const next = { ...Object.fromEntries(query), ...changes };
  history.replaceState(null, '', hrefOf(path, next));
  place.value = read();
}

function read(): Place {
  const [path = '', search = ''] = location.hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  const decoded = (text: string): string => {
    try {
      return decodeURIComponent(text);
    } catch {
      return text;
    }
  };
  return {
    path: path
      .split('/')
      .filter((part) => part !== '')
      .map(decoded),
    query: new URLSearchParams(search),
  };
}

addEventListener('hashchange', () => {
  place.value = read();
});
