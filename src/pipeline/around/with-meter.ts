/** Metrics and the span of an operation. */
import { toSvcError } from '../../errors/encode.ts';
import type { CachedOperation } from '../operation-cache.ts';
import type { RequestRun } from '../request-run.ts';

/**
 * Counts the operation and traces it in its own span.
 * @param task gets the run with the span as its trace; calls `onOperation` once the document has been parsed
 * @throws errors of `task`
 */
export async function withMeter<T>(
  run: RequestRun,
  task: (run: RequestRun, onOperation: (operation: CachedOperation) => void) => Promise<T>,
): Promise<T> {
  const { pipeline, request, options } = run;
  const metered = pipeline.meter?.current()?.begin(request) ?? null;
  const span = options.trace?.child('operation') ?? null;
  // An unsampled request has one span for everything.
  const traced = span === null || span === options.trace ? run : { ...run, options: { ...options, trace: span } };
  try {
    const result = await task(traced, (operation) => {
      metered?.known(operation);
      options.onOperation?.(operation);
      if (span?.isSampled !== true) return;
      const { kind, name } = operation.prepared;
      // The client's name is an attribute: span names must have few distinct values.
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
      // Errors of the client do not fail the span.
      if (status >= 500) span.fail(code);
    }
    throw error;
  } finally {
    if (span !== options.trace) span?.end();
  }
}
