import type { Body } from '../../util/bytes.ts';
import { cachedObservation } from '../query-observation.ts';
import type { OperationRun } from '../request-run.ts';

/** Returns a cached response if the plan permits it (`@cached`), otherwise the response of `make`, which is then cached. */
export function withCache(run: OperationRun, make: (run: OperationRun) => Promise<Body>): Promise<Body> {
  const { pipeline, plan, request, options } = run;
  const { responses } = pipeline;
  if (plan.cached === undefined || responses === undefined) return make(run);
  let isHit = true;
  const { headers, onCacheStatus: onNote, signal, deadline, budget } = options;
  const cacheRequest = { ...run, headers, onNote, signal, deadline, isOfBatch: budget !== undefined };
  const response = responses.answer(cacheRequest, (markUnique) => {
    isHit = false;
    // A response with cookies is for one client.
    const onCookie = (cookie: string): void => {
      markUnique();
      options.onCookie?.(cookie);
    };
    return make({ ...run, options: { ...options, onCookie } });
  });
  return response.then((body) => {
    options.trace?.set('svc.cache', isHit ? 'hit' : 'miss');
    if (isHit)
      pipeline.observeQuery?.({ ...cachedObservation(options.requestId ?? '', request, pipeline.maskedVariables), trace: options.trace });
    return body;
  });
}
