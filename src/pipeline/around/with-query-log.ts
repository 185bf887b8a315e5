import type { Body } from '../../util/bytes.ts';
import { queryObservation, slowQueryObservation } from '../query-observation.ts';
import type { OperationRun } from '../request-run.ts';

/** Logs a query before `execute` runs it, and a slow operation afterwards. */
export function withQueryLog(run: OperationRun, execute: (run: OperationRun) => Promise<Body>): Promise<Body> {
  const { pipeline, session, request, plan, variables, options } = run;
  const { observeQuery, slow } = pipeline;
  const requestId = options.requestId ?? '';
  if (observeQuery !== undefined && plan.kind === 'query') {
    const query = queryObservation(requestId, request, plan, variables, session, pipeline.maskedVariables);
    observeQuery({ ...query, trace: options.trace });
  }
  if (slow === undefined) return execute(run);
  const began = performance.now();
  return execute(run).finally(() => {
    const duration = performance.now() - began;
    if (duration > slow.limit) slow.observe({ ...slowQueryObservation(request, plan, session, requestId, duration), trace: options.trace });
  });
}
