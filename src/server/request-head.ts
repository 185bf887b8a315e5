import type { IncomingMessage } from 'node:http';
import { SvcError } from '../errors/svc-error.ts';

/** `: ` and the end of the line. */
const OF_HEADER = 4;
/** Two spaces, `HTTP/1.1` and the end of the line. */
const OF_LINE = 12;

/** Bytes of the first line and the headers: the parser of HTTP bounds names and values only, of which many short ones have few. */
function headerLength({ method = '', url = '', rawHeaders }: Pick<IncomingMessage, 'method' | 'url' | 'rawHeaders'>): number {
  let bytes = method.length + url.length + OF_LINE + (rawHeaders.length / 2) * OF_HEADER;
  for (const text of rawHeaders) bytes += text.length;
  return bytes;
}

/**
 * Two `Host` headers are refused (RFC 9112, section 3.2): a proxy may have read the other one.
 * @param most bytes
 * @throws SvcError bad-request, 431 where the URL and the headers are too long
 */
export function checkHead(request: Pick<IncomingMessage, 'method' | 'url' | 'rawHeaders'>, most: number): void {
  if (headerLength(request) > most)
    throw new SvcError('bad-request', `the URL and the headers have more than ${most} bytes`, { status: 431, keepsStatus: true });
  const hosts = request.rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'host').length;
  if (hosts > 1) throw new SvcError('bad-request', 'the request has more than one Host header', { status: 400, keepsStatus: true });
}
