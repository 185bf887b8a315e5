/**
 * The path of a GraphQL request, from the document to the bytes of its response:
 *
 * 1. parse and validate: `prepare`, once per document
 * 2. translate and plan: `planOperationFor`, once per document and shape of its variables
 * 3. bind the values to the statements, run the steps and splice their results: `runPlan`, with what `runContext` collects for it
 *
 * Metrics, limits, the response cache and logs are wrappers around these steps, in `around/`; `runReserved` reserves the result budget.
 */
import { SvcError } from '../errors/svc-error.ts';
import type { RunContext } from '../execute/run-context.ts';
import { runPlan } from '../execute/run-plan.ts';
import type { OperationPlan } from '../plan/plan.ts';
import type { Body } from '../util/bytes.ts';
import { limitsFor } from './api-limits.ts';
import { withAdmission, withinTime } from './around/with-admission.ts';
import { withCache } from './around/with-cache.ts';
import { withQueryLog } from './around/with-query-log.ts';
import { withMeter } from './around/with-meter.ts';
import type { CachedOperation } from './operation-cache.ts';
import { planOperationFor, prepare, clientError, requireTypes } from './prepare.ts';
import { tagsOfRequest } from './query-tags.ts';
import type { OperationRun, RequestRun } from './request-run.ts';
import type { MemoryReservation } from './result-memory.ts';
import { runContext } from './run-context.ts';
import { readsSchemaOnly, type SchemaAnswer, type SchemaAnswers } from './schema-answers.ts';

/**
 * Runs a query or mutation.
 * @returns the response body `{"data":…}` in pieces
 * @throws SvcError with the position of the error; for a subscription, which has no single response
 */
export function runRequest(request: RequestRun): Promise<Body> {
  return withMeter(request, (metered, onOperation) =>
    withAdmission(metered, (run, limits) => {
      const operation = prepare(run, limits);
      onOperation(operation);
      return runPrepared(run, operation);
    }),
  );
}

/**
 * Runs an operation of `prepare`; inside `withAdmission`.
 * @returns the response body `{"data":…}` in pieces
 * @throws SvcError like `runRequest`, synchronously or as a rejection
 */
export function runPrepared(run: RequestRun, operation: CachedOperation): Promise<Body> {
  requireAnswerable(run, operation);
  const variables = operation.prepared.variables(run.request.variables, run.request.variableDepth);
  const plan = planOperationFor(run, operation, variables);
  const { pipeline, snapshot, session, request, options } = run;
  // A literal: spreading `run` would be slower than the two wrappers.
  const planned: OperationRun = { pipeline, snapshot, session, request, options, operation, variables, plan };
  if (plan.unmatchedTypes === undefined) return withCache(planned, runLogged);
  return requireTypes(run, plan.unmatchedTypes).then(() => withCache(planned, runLogged));
}

function runLogged(run: OperationRun): Promise<Body> {
  return withQueryLog(run, runPlanned);
}

function runPlanned(run: OperationRun): Promise<Body> {
  const { schemaAnswers } = run.pipeline;
  // The parts of a batch share limits, which may cut a response.
  if (schemaAnswers === undefined || run.options.budget !== undefined || !readsSchemaOnly(run.plan)) return runSteps(run);
  return answerFromSchema(run, schemaAnswers);
}

async function answerFromSchema(run: OperationRun, schemaAnswers: SchemaAnswers): Promise<Body> {
  const answer = schemaAnswers.find(run.plan) ?? (await makeSchemaAnswer(run, schemaAnswers));
  if (answer.copies !== null) run.options.onCopies?.(answer.copies);
  return answer.body;
}

async function makeSchemaAnswer(
  run: OperationRun,
  schemaAnswers: SchemaAnswers,
): Promise<SchemaAnswer | { readonly body: Body; readonly copies: null }> {
  const body = await runSteps(run);
  return schemaAnswers.store(run.plan, body) ?? { body, copies: null };
}

function runSteps(run: OperationRun): Promise<Body> {
  const { snapshot, request, operation, plan, options } = run;
  const { queryTags } = snapshot.cache;
  const tags = queryTags.size === 0 ? undefined : tagsOfRequest(queryTags, operation, request, options.requestId ?? '');
  return runReserved(plan, runContext(run, request.query, tags), options.reservation);
}

/** @throws SvcError */
function requireAnswerable({ options }: RequestRun, { prepared: { kind } }: CachedOperation): void {
  if (kind === 'subscription') {
    throw new SvcError('unexpected-payload', 'subscriptions are not supported over HTTP, use websockets instead');
  }
  if (options.queriesOnly === true && kind !== 'query') {
    throw new SvcError('method-not-allowed', 'only queries are allowed in GET requests', { keepsStatus: true });
  }
}

/**
 * Runs a plan. A plan that reads databases first waits for its share of the result budget.
 * @param reservation of the request; `undefined` if its results do not count
 * @throws SvcError busy if the wait takes too long, or if the result is larger than expected and the budget is exhausted
 */
export function runReserved(plan: OperationPlan, context: RunContext, reservation: MemoryReservation | undefined): Promise<Body> {
  if (reservation === undefined || !readsDatabases(plan)) return runPlan(plan, context);
  const { options, session } = context;
  const wait = { role: session.role, deadline: options.deadline, signal: options.signal };
  return reservation.run(plan, plan.expected ?? 0, wait, () => runPlan(plan, context));
}

function readsDatabases({ steps, joins }: OperationPlan): boolean {
  return steps.some(({ kind }) => kind === 'select' || kind === 'mutation') || joins.some(({ kind }) => kind === 'source');
}

/**
 * Runs a request that waited after its admission while the metadata changed, with the current permissions and limits. Does not count
 * against the batch budget again.
 * @param run with the current snapshot
 * @throws SvcError like `runRequest`
 */
export async function runWithCurrentMetadata(run: RequestRun): Promise<Body> {
  const { snapshot, session } = run;
  const limits = limitsFor(snapshot.cache.apiLimits, session);
  try {
    const operation = prepare({ ...run, options: {} }, limits);
    return await runPrepared(withinTime(run, limits), operation);
  } catch (error) {
    throw clientError(error, run);
  }
}
