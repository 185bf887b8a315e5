/** Errors of requests. */
import { isObject, type Json, parseJsonText } from '../model/json.ts';
import { suggestionsOf } from '../model/suggestions.ts';

export class Failure extends Error {
  readonly status: number;
  readonly code: string;
  readonly path: string | undefined;
  readonly internal: Json | undefined;
  /** Names that may have been meant instead of the wrong one. */
  readonly names: readonly string[];
  /** Sentences that say what to do. */
  readonly remedies: readonly string[];

  constructor(
    message: string,
    {
      status = 0,
      code = 'unreachable',
      path,
      internal,
      names = [],
      remedies = [],
    }: Partial<Pick<Failure, 'status' | 'code' | 'path' | 'internal' | 'names' | 'remedies'>> = {},
  ) {
    super(message);
    this.name = 'Failure';
    this.status = status;
    this.code = code;
    this.path = path;
    this.internal = internal;
    this.names = names;
    this.remedies = remedies;
  }
}

/** Returns true if the user or the page cancelled the request. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

export function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error;
  return new Failure(error instanceof Error ? error.message : String(error), { code: 'console' });
}

/** Decodes an error response of the service in either of its two formats. */
export function failureOfResponse(status: number, text: string): Failure {
  let json: Json = null;
  try {
    json = parseJsonText(text);
  } catch {
    // Not JSON, for example an error page of a proxy.
  }
  const first = isObject(json) && Array.isArray(json['errors']) ? ((json['errors'] as readonly Json[])[0] ?? null) : json;
  if (!isObject(first))
    return new Failure(text.slice(0, 300) || `The service responded with status ${status}.`, { status, code: `http-${status}` });
  const extensions = isObject(first['extensions']) ? first['extensions'] : first;
  const found = first['error'] ?? first['message'];
  const message = typeof found === 'string' ? found : `The service responded with status ${status}.`;
  return new Failure(message, {
    status,
    code: typeof extensions['code'] === 'string' ? extensions['code'] : `http-${status}`,
    path: typeof extensions['path'] === 'string' ? extensions['path'] : undefined,
    internal: first['internal'] ?? (extensions === first ? undefined : extensions['internal']),
    ...suggestionsOf(message, extensions['suggestions']),
  });
}
