import { gzipSync } from 'node:zlib';
import type { Observer } from '../../observability/observation.ts';
import { safeUrl } from '../../http-client/safe-url.ts';
import type { ExportTarget } from './targets.ts';

const ATTEMPTS = 3;
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 5000;
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** Maximum size of a response in bytes; its content is ignored. */
const MAX_RESPONSE_SIZE = 65_536;

/** Sends one export request. Never throws. @returns false if the collector did not accept it */
export type SendRequest = (request: Buffer) => Promise<boolean>;

/** Creates a sender with retries that logs the first of several failures in a row, and the recovery. @param what plural noun for log messages */
export function sender({ url, headers, outbound, timeout, compresses }: ExportTarget, what: string, observe: Observer): SendRequest {
  let isFailing = false;
  const report = (failure: string | null): void => {
    if (failure !== null && !isFailing)
      observe({ kind: 'telemetry', data: what, event: 'unavailable', message: `${what} are lost: ${failure}` });
    if (failure === null && isFailing)
      observe({ kind: 'telemetry', data: what, event: 'available', message: `the collector accepts ${what} again` });
    isFailing = failure !== null;
  };
  const allHeaders = { ...headers, 'content-type': 'application/x-protobuf', ...(compresses ? { 'content-encoding': 'gzip' } : {}) };
  return async (request) => {
    const body = compresses ? gzipSync(request) : request;
    let failure = '';
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (attempt > 0) await pause(Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt));
      try {
        const { status } = await outbound.send({
          kind: 'telemetry',
          url,
          method: 'POST',
          headers: allHeaders,
          body,
          timeout,
          maxResponseSize: MAX_RESPONSE_SIZE,
          // The collector has accepted the data whatever the size of its response.
          cutLargeResponse: true,
        });
        if (status >= 200 && status < 300) {
          report(null);
          return true;
        }
        failure = `the collector responded with status ${status}`;
        if (!RETRYABLE.has(status)) break;
      } catch (error) {
        // Without the path, which may contain a token.
        failure =
          error instanceof Error ? error.message.replaceAll(safeUrl(url), () => new URL(url).origin) : 'the collector cannot be called';
      }
    }
    report(failure);
    return false;
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
