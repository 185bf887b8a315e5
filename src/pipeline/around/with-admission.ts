/** Applies the limits of a role to a request. */
import { limitsFor, type RoleLimits } from '../api-limits.ts';
import { clientError, type DataRequest } from '../prepare.ts';
import type { GraphqlRequest } from '../request.ts';
import type { RequestRun } from '../request-run.ts';

/**
 * Admits the request within the rate and concurrency limits of its role, and runs it within their time limit.
 * @throws SvcError busy, and errors of `task` as `clientError` returns them
 */
export async function withAdmission<Request extends GraphqlRequest | DataRequest, T>(
  run: RequestRun<Request>,
  task: (run: RequestRun<Request>, limits: RoleLimits | null) => Promise<T>,
): Promise<T> {
  const { pipeline, snapshot, session, options } = run;
  const limits = limitsFor(snapshot.cache.apiLimits, session);
  const release = limits === null ? null : pipeline.rateLimiter.admit(limits, session, options.address ?? '');
  try {
    return await task(withinTime(run, limits), limits);
  } catch (error) {
    throw clientError(error, run);
  } finally {
    release?.();
  }
}

/** Returns the run with the earlier of its own deadline and that of its role. */
export function withinTime<Request>(run: RequestRun<Request>, limits: RoleLimits | null): RequestRun<Request> {
  const time = limits?.time ?? null;
  if (time === null) return run;
  const { options } = run;
  return { ...run, options: { ...options, deadline: Math.min(options.deadline ?? Number.POSITIVE_INFINITY, Date.now() + time) } };
}
