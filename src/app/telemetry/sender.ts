import { gzipSync } from 'node:zlib';
import type { Observer } from '../../observability/observation.ts';
import { safeUrl } from '../../http-client/safe-url.ts';
import type { Target } from './targets.ts';

const ATTEMPTS = 3;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5000;
const AGAIN: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** Nobody reads it. */
const MOST_OF_ANSWER = 65_536;

/** Sends a request of the protocol. Never throws. @returns whether it was taken */
export type SendRequest = (request: Buffer) => Promise<boolean>;

/** Tells of the first failure in a row, and of the end of it. @param what is sent, in the plural */
export function sender({ url, headers, outbound, timeout, compresses }: Target, what: string, observe: Observer): SendRequest {
  let isFailing = false;
  const tell = (failure: string | null): void => {
    if (failure !== null && !isFailing)
      observe({ kind: 'telemetry', data: what, event: 'unavailable', message: `${what} are lost: ${failure}` });
    if (failure === null && isFailing) observe({ kind: 'telemetry', data: what, event: 'available', message: `${what} are taken again` });
    isFailing = failure !== null;
  };
  const all = { ...headers, 'content-type': 'application/x-protobuf', ...(compresses ? { 'content-encoding': 'gzip' } : {}) };
  return async (request) => {
    const body = compresses ? gzipSync(request) : request;
    let failure = '';
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (attempt > 0) await pause(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt));
      try {
        const { status } = await outbound.send({
          kind: 'telemetry',
          url,
          method: 'POST',
          headers: all,
          body,
          timeout,
          maxResponseSize: MOST_OF_ANSWER,
          // It was taken all the same.
          cutLargeResponse: true,
        });
        if (status >= 200 && status < 300) {
          tell(null);
          return true;
        }
        failure = `the collector answers with status ${status}`;
        if (!AGAIN.has(status)) break;
      } catch (error) {
        // Without the path, which may be what authorizes.
        failure =
          error instanceof Error ? error.message.replaceAll(safeUrl(url), () => new URL(url).origin) : 'the collector cannot be called';
      }
    }
    tell(failure);
    return false;
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
