/**
 * A model of an HTTP cache that heeds `Cache-Control`, `Vary`, `ETag` and `Age` and nothing else. It keeps whatever these headers allow, so
 * that a header that is missing shows as a wrong answer.
 */

export interface CacheRequest {
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface CacheResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type Fetch = (request: CacheRequest) => Promise<CacheResponse>;

interface Kept {
  readonly request: CacheRequest;
  readonly response: CacheResponse;
  /** Milliseconds at which the response was made. */
  readonly since: number;
}

interface Directives {
  readonly names: ReadonlySet<string>;
  readonly maxAge: number;
}

export class HttpCacheModel {
  readonly #isShared: boolean;
  readonly #next: Fetch;
  readonly #kept = new Map<string, Kept[]>();
  hits = 0;
  notModified = 0;

  /** @param isShared true for a cache of many clients, which must not keep `private` answers */
  constructor(isShared: boolean, next: Fetch) {
    this.#isShared = isShared;
    this.#next = next;
  }

  async fetch(request: CacheRequest): Promise<CacheResponse> {
    const kept = this.#find(request);
    if (kept !== undefined && isFresh(kept)) {
      this.hits += 1;
      return { ...kept.response, headers: { ...kept.response.headers, age: String((Date.now() - kept.since) / 1000) } };
    }
    const tag = kept?.response.headers['etag'];
    const began = Date.now();
    const response = await this.#next(tag === undefined ? request : { ...request, headers: { ...request.headers, 'if-none-match': tag } });
    const since = began - 1000 * Number(response.headers['age'] ?? '0');
    if (response.status === 304 && kept !== undefined) {
      this.notModified += 1;
      const renewed = { ...kept.response, headers: { ...kept.response.headers, ...response.headers } };
      this.#keep(request, renewed, since);
      return renewed;
    }
    this.#keep(request, response, since);
    return response;
  }

  #find(request: CacheRequest): Kept | undefined {
    return this.#kept.get(request.url)?.find((kept) => matches(kept, request));
  }

  #keep(request: CacheRequest, response: CacheResponse, since: number): void {
    const { names, maxAge } = directivesOf(response);
    const others = (this.#kept.get(request.url) ?? []).filter((kept) => !matches(kept, request));
    const mayKeep = !names.has('no-store') && !(this.#isShared && names.has('private')) && (maxAge > 0 || names.has('no-cache'));
    this.#kept.set(request.url, mayKeep ? [...others, { request, response, since }] : others);
  }
}

function directivesOf({ headers }: CacheResponse): Directives {
  const parts = (headers['cache-control'] ?? '').split(',').map((part) => part.trim().toLowerCase());
  const age = parts.find((part) => part.startsWith('max-age='));
  return { names: new Set(parts), maxAge: age === undefined ? 0 : Number(age.slice('max-age='.length)) };
}

function isFresh({ response, since }: Kept): boolean {
  const { names, maxAge } = directivesOf(response);
  return !names.has('no-cache') && Date.now() - since < 1000 * maxAge;
}

function matches({ request: kept, response }: Kept, request: CacheRequest): boolean {
  const names = (response.headers['vary'] ?? '').split(',').map((name) => name.trim().toLowerCase());
  return names.every((name) => name !== '*' && (name === '' || kept.headers[name] === request.headers[name]));
}
