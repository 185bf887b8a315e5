/**
 * The path of a GraphQL request, from the document to the bytes of its answer:
 *
 * 1. parse and validate: `prepare`, once per document
 * 2. translate and plan: `planOperationFor`, once per document and shape of its variables
 * 3. bind: `runContext`
 * 4. run the steps and splice their answers: `runPlan`
 *
 * Metrics, limits, the response cache, logs and the result budget stand around these steps, in `around/`.
 */
import { SvcError } from '../errors/svc-error.ts';
import type { RunContext } from '../execute/run-context.ts';
import { runPlan } from '../execute/run-plan.ts';
import type { Plan } from '../plan/plan.ts';
import type { Body } from '../util/bytes.ts';
import { limitsFor } from './api-limits.ts';
import { withAdmission, withinTime } from './around/admitted.ts';
import { withCache } from './around/cached.ts';
import { withQueryLog } from './around/logged.ts';
import { withMeter } from './around/metered.ts';
import type { CachedOperation } from './operation-cache.ts';
import { planOperationFor, prepare, redacted } from './prepare.ts';
import { tagsOfRequest } from './query-tags.ts';
import type { OperationRun, RequestRun } from './request-run.ts';
import type { MemoryHold } from './result-memory.ts';
import { runContext } from './run-context.ts';

/**
 * Runs a query or mutation.
 * @returns the response body `{"data":…}` in pieces
 * @throws SvcError with the position of the fault; for a subscription, which has no single answer
 */
export function runRequest(request: RequestRun): Promise<Body> {
  return withMeter(request, (metered, onOperation) =>
    withAdmission(metered, async (run, limits) => {
      const operation = prepare(run, limits);
      onOperation(operation);
      return runPrepared(run, operation);
    }),
  );
}

/**
 * Runs an operation of `prepare`; inside `withAdmission`.
 * @returns the response body `{"data":…}` in pieces
 * @throws SvcError as `runRequest`
 */
export async function runPrepared(run: RequestRun, operation: CachedOperation): Promise<Body> {
  requireAnswerable(run, operation);
  const variables = operation.prepared.variables(run.request.variables, run.request.variableDepth);
  const plan = planOperationFor(run, operation, variables);
  return withCache({ ...run, operation, variables, plan }, (planned) => withQueryLog(planned, () => runPlanned(planned)));
}

function runPlanned(run: OperationRun): Promise<Body> {
  const { snapshot, request, operation, plan, how } = run;
  const { queryTags } = snapshot.cache;
  const tags = queryTags.size === 0 ? undefined : tagsOfRequest(queryTags, operation, request, how.requestId ?? '');
  return runWithin(plan, runContext(run, request.query, tags), how.hold);
}

/** @throws SvcError */
function requireAnswerable({ how }: RequestRun, { prepared: { kind } }: CachedOperation): void {
  if (kind === 'subscription') {
    throw new SvcError('unexpected-payload', 'subscriptions are not supported over HTTP, use websockets instead');
  }
  if (how.queriesOnly === true && kind !== 'query') {
    throw new SvcError('method-not-allowed', 'only queries are allowed in GET requests', { keepsStatus: true });
  }
}

/**
 * Runs a plan. A plan that reads databases first waits for its share of the result budget.
 * @param hold of the request; `undefined` if its answer does not count
 * @throws SvcError busy if the wait takes too long, or if the answer is larger than expected and the budget is used up
 */
export function runWithin(plan: Plan, context: RunContext, hold: MemoryHold | undefined): Promise<Body> {
  if (hold === undefined || !readsDatabases(plan)) return runPlan(plan, context);
  const { how, session } = context;
  const turn = { role: session.role, deadline: how.deadline, signal: how.signal };
  return hold.run(plan, plan.expected ?? 0, turn, () => runPlan(plan, context));
}

function readsDatabases({ steps, joins }: Plan): boolean {
  return steps.some(({ kind }) => kind === 'select' || kind === 'mutation') || joins.some(({ kind }) => kind === 'source');
}

/**
 * Runs an admitted request that waited while the metadata changed, with the current permissions and limits. Does not count for a batch what
 * `prepare` has counted before.
 * @param run with the current snapshot
 * @throws SvcError as `runRequest`
 */
export async function runAnew(run: RequestRun): Promise<Body> {
  const { snapshot, session } = run;
  const limits = limitsFor(snapshot.cache.apiLimits, session);
  try {
    const operation = prepare({ ...run, how: {} }, limits);
    return await runPrepared(withinTime(run, limits), operation);
  } catch (error) {
    throw redacted(error, snapshot, session);
  }
}
