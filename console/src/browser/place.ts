/** Addresses of the page and the service. The route is in the URL's fragment, which no server or log receives. */
import { signal } from '@preact/signals';

/** URL of the service with a final slash. The page is at `…/console/` below it. */
export const base = new URL('../', document.baseURI).href;

/** Returns the address of a page of the documentation, such as `actions.html`, which the service serves beside the console. */
export function docsHref(page: string): string {
  return `${base}docs/${page}`;
}

/** A route: `#/data/default/public.album?tab=permissions`. */
export interface Place {
  /** Decoded segments. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

export const place = signal<Place>(read());

/** Returns the fragment for a link. Undefined values are omitted. */
export function hrefOf(path: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): string {
  const entries = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const search = new URLSearchParams(entries).toString();
  return `#/${path.map(encodeURIComponent).join('/')}${search === '' ? '' : `?${search}`}`;
}

export function go(path: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): void {
  location.hash = hrefOf(path, query);
}

/** Changes the query of the current route without a new history entry. */
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
