import type { IncomingMessage } from 'node:http';

const METHODS = 'GET,POST,PUT,PATCH,DELETE,OPTIONS';

/** @param pattern `scheme://[*.]host[:port]`, where `*.` stands for one leading label */
export function matchesOrigin(pattern: string, origin: string): boolean {
  const star = pattern.indexOf('://*.');
  if (star < 0) return pattern === origin;
  const scheme = pattern.slice(0, star + 3);
  const suffix = pattern.slice(star + 4);
  if (!origin.startsWith(scheme) || !origin.endsWith(suffix)) return false;
  const label = origin.slice(scheme.length, origin.length - suffix.length);
  return label !== '' && !label.includes('.');
}

/** Returns the headers for a request from another origin, `null` if there are none. */
export function corsHeaders(request: IncomingMessage, domains: '*' | readonly string[] | null): Record<string, string> | null {
  const { origin } = request.headers;
  if (origin === undefined || domains === null) return null;
  if (domains !== '*' && !domains.some((domain) => matchesOrigin(domain, origin))) return null;
  return {
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Allow-Credentials': 'true',
    'Access-Control-Allow-Methods': METHODS,
    'Access-Control-Expose-Headers': 'X-Svc-Query-Cache-Key,X-Svc-Query-Family-Cache-Key,Warning',
    Vary: 'Origin',
  };
}

/** Returns the additional headers of a preflight response. */
export function preflightHeaders(request: IncomingMessage): Record<string, string> {
  return {
    'Access-Control-Max-Age': '1728000',
    'Access-Control-Allow-Headers': request.headers['access-control-request-headers'] ?? '',
    'Content-Length': '0',
    'Content-Type': 'text/plain charset=UTF-8',
  };
}
