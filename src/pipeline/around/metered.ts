/** Metrics and the span of an operation, around everything that is done for it. */
import { toSvcError } from '../../errors/encode.ts';
import type { CachedOperation } from '../operation-cache.ts';
import type { RequestRun } from '../request-run.ts';

/**
 * Counts the operation and traces it in a span of its own.
 * @param task to be run with the span as its trace; calls `onOperation` once the document has been read
 * @throws what `task` throws
 */
export async function withMeter<T>(
  run: RequestRun,
  task: (run: RequestRun, onOperation: (operation: CachedOperation) => void) => Promise<T>,
): Promise<T> {
  const { pipeline, request, how } = run;
  const metered = pipeline.meter?.current()?.begin(request) ?? null;
  const span = how.trace?.child('operation') ?? null;
  // An unsampled request has one span for everything.
  const traced = span === null || span === how.trace ? run : { ...run, how: { ...how, trace: span } };
  try {
    const result = await task(traced, (operation) => {
      metered?.known(operation);
      how.onOperation?.(operation);
      if (span?.isSampled !== true) return;
      const { kind, name } = operation.prepared;
      // The name that the client gave is an attribute: span names have few values.
      span.name = kind;
      span.set('graphql.operation.type', kind).set('graphql.operation.name', name);
    });
    metered?.succeeded();
    return result;
  } catch (error) {
    metered?.failed(error);
    if (span !== null) {
      const { code, status } = toSvcError(error);
      span.set('svc.error.code', code);
      // Faults of the client are no failure of the span.
      if (status >= 500) span.fail(code);
    }
    throw error;
  } finally {
    if (span !== how.trace) span?.end();
  }
}
