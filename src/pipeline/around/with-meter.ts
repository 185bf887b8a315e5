/** Metrics, the span and the record of an operation. */
import { toSvcError } from '../../errors/encode.ts';
import type { CachedOperation } from '../operation-cache.ts';
import type { RequestRun } from '../request-run.ts';

/**
 * Counts the operation, traces it in its own span, and adds it to the last operations.
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
  const finish = recorder(run);
  // An unsampled request has one span for everything.
  const traced = span === null || span === options.trace ? run : { ...run, options: { ...options, trace: span } };
  try {
    const result = await task(traced, (operation) => {
      metered?.known(operation);
      finish.known(operation);
      options.onOperation?.(operation);
      if (span?.isSampled !== true) return;
      const { kind, name } = operation.prepared;
      // The client's name is an attribute: span names must have few distinct values.
      span.name = kind;
      span.set('graphql.operation.type', kind).set('graphql.operation.name', name);
    });
    metered?.succeeded();
    finish.done(null);
    return result;
  } catch (error) {
    metered?.failed(error);
    const { code, status } = toSvcError(error);
    finish.done(code);
    if (span !== null) {
      span.set('svc.error.code', code);
      // Errors of the client do not fail the span.
      if (status >= 500) span.fail(code);
    }
    throw error;
  } finally {
    if (span !== options.trace) span?.end();
  }
}

/** Adds the operation to the record of the last ones when it is done. */
function recorder({ pipeline, session, request, options }: RequestRun): {
  known(operation: CachedOperation): void;
  done(error: string | null): void;
} {
  const { recent } = pipeline;
  if (recent === undefined) return { known: () => undefined, done: () => undefined };
  const began = performance.now();
  let known: CachedOperation | null = null;
  return {
    known(operation) {
      known = operation;
    },
    done(error) {
      recent.add({
        at: Date.now(),
        requestId: options.requestId ?? '',
        name: request.operationName,
        role: session.role,
        duration: performance.now() - began,
        error,
        query: request.query,
        operation: known,
      });
    },
  };
}
