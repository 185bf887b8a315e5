import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const gzipAsync = promisify(gzip);
/** Smaller bodies do not get smaller. */
const MIN_BYTES = 700;

/** Whether an `Accept-Encoding` allows gzip (RFC 9110, section 12.5.3). */
export function acceptsGzip(header: string | string[] | undefined): boolean {
  if (header === undefined) return false;
  const text = Array.isArray(header) ? header.join(',') : header;
  let any = false;
  for (const part of text.split(',')) {
    const [name, ...parameters] = part.split(';').map((x) => x.trim().toLowerCase());
    const q = parameters.find((p) => p.startsWith('q='));
    const refused = q !== undefined && !(Number(q.slice(2)) > 0);
    if (name === 'gzip') return !refused;
    if (name === '*') any = !refused;
  }
  return any;
}

/** The compressed body, or null when it is not worth it. Fast for large bodies, tight for small ones. */
export async function compress(body: readonly Buffer[], size: number): Promise<Buffer | null> {
  if (size < MIN_BYTES) return null;
  return gzipAsync(body.length === 1 ? (body[0] as Buffer) : Buffer.concat(body, size), { level: size <= 20_000 ? 1 : 6 });
}
