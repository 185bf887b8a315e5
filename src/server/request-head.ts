import type { IncomingMessage } from 'node:http';
import { SvcError } from '../errors/svc-error.ts';

/** Bytes of `: ` and the line end, per header. */
const HEADER_OVERHEAD = 4;
/** Bytes of two spaces, `HTTP/1.1` and the line end. */
const LINE_OVERHEAD = 12;

/** Returns the size of the first line and the headers. The HTTP parser does not count separators, which matter for many short headers. */
function headerLength({ method = '', url = '', rawHeaders }: Pick<IncomingMessage, 'method' | 'url' | 'rawHeaders'>): number {
  let bytes = method.length + url.length + LINE_OVERHEAD + (rawHeaders.length / 2) * HEADER_OVERHEAD;
  for (const text of rawHeaders) bytes += text.length;
  return bytes;
}

/**
 * Checks the size of the head and rejects a second `Host` header (RFC 9112, section 3.2): a proxy may have used the other one.
 * @param limit in bytes
 * @throws SvcError bad-request, 431 if the URL and the headers are too long
 */
export function checkHead(request: Pick<IncomingMessage, 'method' | 'url' | 'rawHeaders'>, limit: number): void {
  if (headerLength(request) > limit)
    throw new SvcError('bad-request', `the URL and the headers exceed ${limit} bytes`, { status: 431, keepsStatus: true });
  const hosts = request.rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === 'host').length;
  if (hosts > 1) throw new SvcError('bad-request', 'the request has more than one Host header', { status: 400, keepsStatus: true });
}
