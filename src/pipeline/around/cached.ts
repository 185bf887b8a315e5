import type { Body } from '../../util/bytes.ts';
import { cachedObservation } from '../query-observation.ts';
import type { OperationRun } from '../request-run.ts';

/** Answers from the response cache where the plan permits it (`@cached`), else by `make`, whose answer is cached. */
export function withCache(run: OperationRun, make: (run: OperationRun) => Promise<Body>): Promise<Body> {
  const { pipeline, plan, request, how } = run;
  const { responses } = pipeline;
  if (plan.cached === undefined || responses === undefined) return make(run);
  let isHit = true;
  const question = {
    ...run,
    ...{ headers: how.headers, onNote: how.onCacheNote, signal: how.signal, deadline: how.deadline, isOfBatch: how.budget !== undefined },
  };
  const answer = responses.answer(question, (markUnique) => {
    isHit = false;
    // An answer with cookies is for one client.
    const onCookie = (cookie: string): void => {
      markUnique();
      how.onCookie?.(cookie);
    };
    return make({ ...run, how: { ...how, onCookie } });
  });
  return answer.then((body) => {
    how.trace?.set('svc.cache', isHit ? 'hit' : 'miss');
    if (isHit) pipeline.observeQuery?.({ ...cachedObservation(how.requestId ?? '', request, pipeline.maskedVariables), trace: how.trace });
    return body;
  });
}
