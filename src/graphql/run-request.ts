/** The path of a GraphQL request: session and snapshot in, response bytes out. */
import type { IncomingHttpHeaders } from 'node:http';
import type { HandlerCaller } from '../actions/handler-call.ts';
import type { Session } from '../auth/session.ts';
import type { Compiler, RunOptions, Source } from '../backend/backend.ts';
import { toSvcError } from '../errors/encode.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { InputValidator } from '../execute/input-validator.ts';
import { runPlan } from '../execute/run-plan.ts';
import type { Counted } from '../observability/metrics/counting.ts';
import type { CostObservation, QueryObservation, SlowQueryObservation } from '../observability/observation.ts';
import type { Span } from '../observability/tracing/span.ts';
import type { Plan } from '../plan/plan.ts';
import { type JoinBounds, noJoinUse } from '../execute/holes.ts';
import type { LaterCalls, ReadingOptions, RunContext } from '../execute/run-context.ts';
import type { Variables } from '../schema/constraint.ts';
import type { RemoteConnection } from '../upstream/connection.ts';
import type { RemoteAccess } from '../upstream/remote-caller.ts';
import type { StoredOperations } from '../schema/stored/stored-operations.ts';
import type { OperationLimits } from '../schema/engine.ts';
import type { RoleSchema } from '../schema/translation.ts';
import type { SchemaCache } from '../schema-cache/schema-cache.ts';
import type { Bytes } from '../util/bytes.ts';
import type { Admission } from './admission.ts';
import { AnswerLimit } from './answer-limit.ts';
import type { AllowList } from './allow-list.ts';
import type { BatchBudget } from './batch-budget.ts';
import { limitsFor, type RoleLimits } from './api-limits.ts';
import type { CachedOperation, OperationCache } from './operation-cache.ts';
import { discreet, planOperationFor, prepare } from './prepare.ts';
import type { OperationMeter } from './operation-meter.ts';
import type { CacheNote, ResponseCache } from './response-cache.ts';
import { cachedObservation, queryObservation, slowQueryObservation } from './query-observation.ts';
import { type TagsOfSource, tagsOfRequest } from './query-tags.ts';
import type { GraphqlRequest } from './request.ts';

/** What a request needs of a snapshot. */
export interface RequestSnapshot {
  readonly cache: Pick<SchemaCache, 'sources' | 'apiLimits' | 'queryTags'>;
  readonly connections: ReadonlyMap<string, Source>;
  readonly remotes: ReadonlyMap<string, RemoteConnection>;
  readonly storedOperations: Pick<StoredOperations, 'allows'>;
  roleSchema(role: string, variant: 'frontend' | 'backend'): RoleSchema;
}

export interface RequestPipeline {
  readonly operations: OperationCache;
  readonly admission: Admission;
  /** null: everything is allowed. */
  readonly allowList: AllowList | null;
  /** The compiler of a source. */
  compilerOf(snapshot: RequestSnapshot, source: string): Compiler;
  readonly validateInput: InputValidator;
  /** Hears of sources that mutations have written to. */
  readonly onWritten?: (source: string) => void;
  readonly remotes: RemoteAccess;
  readonly callHandler: HandlerCaller;
  /** Absent: no call is made later. */
  readonly laterCalls?: LaterCalls;
  readonly joinBounds: Omit<JoinBounds, 'use'>;
  /** Bytes that databases may answer to one operation; Infinity: as many as they like. */
  readonly responseLimit: number;
  /** Of every operation, whatever the role. */
  readonly limits: OperationLimits;
  /** What the operations of a batch may take together. */
  newBudget(): BatchBudget;
  /** Keeps answers of queries with `@cached`; absent: none are kept. */
  readonly responses?: ResponseCache;
  /** Hears of each query before it is run. */
  readonly observeQuery?: (observation: QueryObservation) => void;
  /** Hears of operations that take more than so many ms; absent: nobody wants to know. */
  readonly slow?: { readonly limit: number; readonly observe: (observation: SlowQueryObservation) => void };
  /** Counts operations; absent: nobody wants to know. */
  readonly meter?: Counted<OperationMeter>;
  /** Hears what the statements of requests have read, where a database charges for that. */
  readonly observeCost?: (observation: CostObservation) => void;
  /** Variables whose values it is not told; absent: none. */
  readonly maskedVariables?: ReadonlySet<string>;
}

export interface RequestOptions extends RunOptions, ReadingOptions {
  /** Mutations are refused: the request must be safe to repeat and to link to. */
  readonly queriesOnly?: boolean;
  /** Of the batch that the request is part of. */
  readonly budget?: BatchBudget;
  /** For the log. */
  readonly requestId?: string;
  /** Of the client: limits of roles may count by it. */
  readonly address?: string;
  /** Of the client's request: hooks and remote schemas may get them. */
  readonly headers?: IncomingHttpHeaders;
  /** Hears whenever a database or a server is asked: before, nothing has been done for the request. */
  readonly onAsked?: () => void;
  /** Hears which operation it is, once that has been read. */
  readonly onOperation?: ((operation: CachedOperation) => void) | undefined;
  /** Hears what becomes of an answer that may be kept. */
  readonly onCacheNote?: ((note: CacheNote) => void) | undefined;
  /** Hears of cookies that remote schemas set for the client. */
  readonly onCookie?: (cookie: string) => void;
}

/**
 * Runs a query or mutation.
 * @returns the response body `{"data":…}` in pieces
 * @throws SvcError with the position of the fault; for a subscription, which has no single answer
 */
export async function runRequest(
  pipeline: RequestPipeline,
  snapshot: RequestSnapshot,
  session: Session,
  request: GraphqlRequest,
  how: RequestOptions,
): Promise<readonly Bytes[]> {
  const metered = pipeline.meter?.current()?.begin(request) ?? null;
  const span = how.trace?.child('operation') ?? null;
  // Where nothing is sampled it is the request's own.
  const traced = span === null || span === how.trace ? how : { ...how, trace: span };
  try {
    const body = await admitted(pipeline, snapshot, session, traced, async (within, limits) => {
      const operation = prepare(pipeline, snapshot, session, request, limits, within.budget, within.trace);
      metered?.known(operation);
      if (span !== null) nameOperation(span, operation);
      return runPrepared(pipeline, snapshot, session, request, operation, within);
    });
    metered?.succeeded();
    return body;
  } catch (error) {
    metered?.failed(error);
    if (span !== null) failOperation(span, error);
    throw error;
  } finally {
    if (span !== how.trace) span?.end();
  }
}

/** Names an operation's span, by its kind alone: the name that clients give it is an attribute. */
export function nameOperation(span: Span, { prepared: { kind, name } }: CachedOperation): void {
  if (!span.isSampled) return;
  span.name = kind;
  span.set('graphql.operation.type', kind).set('graphql.operation.name', name);
}

/** Faults of the client are none of the span. */
export function failOperation(span: Span, thrown: unknown): void {
  const error = toSvcError(thrown);
  span.set('svc.error.code', error.code);
  if (error.status >= 500) span.fail(error.code);
}

/**
 * Lets a request in as the limits of its role allow, and runs it within their time. Around everything that is done for a request
 * from reading its document on.
 * @throws SvcError busy, and what `task` throws, without what the role may not know of the schema
 */
export async function admitted<T>(
  pipeline: Pick<RequestPipeline, 'admission'>,
  snapshot: Pick<RequestSnapshot, 'cache' | 'roleSchema'>,
  session: Session,
  how: RequestOptions,
  task: (how: RequestOptions, limits: RoleLimits | null) => Promise<T>,
): Promise<T> {
  const limits = limitsFor(snapshot.cache.apiLimits, session);
  const leave = limits === null ? null : pipeline.admission.admit(limits, session, how.address ?? '');
  try {
    return await task(limits === null ? how : earlier(how, limits.time), limits);
  } catch (error) {
    throw discreet(error, snapshot, session);
  } finally {
    leave?.();
  }
}

function earlier(how: RequestOptions, time: number | null): RequestOptions {
  return time === null ? how : { ...how, deadline: Math.min(how.deadline ?? Number.POSITIVE_INFINITY, Date.now() + time) };
}

/**
 * Runs what `prepare` gave for the request; inside of `admitted`.
 * @returns the response body `{"data":…}` in pieces
 * @throws SvcError as `runRequest`
 */
export function runPrepared(
  pipeline: RequestPipeline,
  snapshot: RequestSnapshot,
  session: Session,
  request: GraphqlRequest,
  operation: CachedOperation,
  how: RequestOptions,
): Promise<readonly Bytes[]> {
  const { prepared } = operation;
  if (prepared.kind === 'subscription') {
    throw new SvcError('unexpected-payload', 'subscriptions are not supported over HTTP, use websockets instead');
  }
  if (how.queriesOnly === true && prepared.kind !== 'query') {
    throw new SvcError('method-not-allowed', 'only queries are allowed in GET requests', { keepsStatus: true });
  }
  const variables = prepared.variables(request.variables, request.variableDepth);
  const plan = planOperationFor(pipeline, snapshot, operation, variables, how.budget, how.trace);
  const { responses } = pipeline;
  if (plan.cached === undefined || responses === undefined)
    return runPlanned(pipeline, snapshot, session, request, plan, variables, how, operation);
  let isHit = true;
  const question = {
    ...{ plan, operation, snapshot, session, variables, request, headers: how.headers, onNote: how.onCacheNote },
    ...{ signal: how.signal, deadline: how.deadline, isOfBatch: how.budget !== undefined },
  };
  const answer = responses.answer(question, (markUnique) => {
    isHit = false;
    // Cookies are for one client.
    const onCookie = (cookie: string): void => {
      markUnique();
      how.onCookie?.(cookie);
    };
    return runPlanned(pipeline, snapshot, session, request, plan, variables, { ...how, onCookie }, operation);
  });
  return answer.then((body) => {
    how.trace?.set('svc.cache', isHit ? 'hit' : 'miss');
    if (isHit) pipeline.observeQuery?.({ ...cachedObservation(how.requestId ?? '', request, pipeline.maskedVariables), trace: how.trace });
    return body;
  });
}

/** Runs a plan that is not answered from the cache. */
function runPlanned(
  pipeline: RequestPipeline,
  snapshot: RequestSnapshot,
  session: Session,
  request: GraphqlRequest,
  plan: Plan,
  variables: Variables,
  how: RequestOptions,
  operation: CachedOperation,
): Promise<readonly Bytes[]> {
  if (pipeline.observeQuery !== undefined && plan.kind === 'query') {
    const told = queryObservation(how.requestId ?? '', request, plan, variables, session, pipeline.maskedVariables);
    pipeline.observeQuery({ ...told, trace: how.trace });
  }
  const { queryTags } = snapshot.cache;
  const tags = queryTags.size === 0 ? undefined : tagsOfRequest(queryTags, operation, request, how.requestId ?? '');
  const context = runContext(pipeline, snapshot, plan, session, variables, how, request.query, tags);
  const { slow } = pipeline;
  if (slow === undefined) return runPlan(plan, context);
  const began = performance.now();
  return runPlan(plan, context).finally(() => {
    const duration = performance.now() - began;
    if (duration > slow.limit)
      slow.observe({ ...slowQueryObservation(request, plan, session, how.requestId ?? '', duration), trace: how.trace });
  });
}

/**
 * Runs a request that had to wait since it was let in, where the metadata changed meanwhile: with the permissions and limits of now.
 * Inside of `admitted`; what `prepare` counted for a batch is not counted again.
 * @throws SvcError as `runRequest`
 */
export async function runAnew(
  pipeline: RequestPipeline,
  snapshot: RequestSnapshot,
  session: Session,
  request: GraphqlRequest,
  how: RequestOptions,
): Promise<readonly Bytes[]> {
  const limits = limitsFor(snapshot.cache.apiLimits, session);
  try {
    const operation = prepare(pipeline, snapshot, session, request, limits);
    const within = limits === null ? how : earlier(how, limits.time);
    return await runPrepared(pipeline, snapshot, session, request, operation, within);
  } catch (error) {
    throw discreet(error, snapshot, session);
  }
}

/**
 * What a request brings to its plan; what only joins, remote schemas and actions need is made for them alone.
 * @param document the text of the client's document; null where there is none
 * @param tags what its statements say of it
 */
export function runContext(
  pipeline: RequestPipeline,
  snapshot: RequestSnapshot,
  plan: Plan,
  session: Session,
  variables: Variables,
  how: RequestOptions,
  document: string | null = null,
  tags?: TagsOfSource,
): RunContext {
  const { observeCost, joinBounds } = pipeline;
  const { budget } = how;
  let asksServers = plan.joins.length > 0;
  let callsHandlers = false;
  for (const { kind } of plan.steps) {
    if (kind === 'remote') asksServers = true;
    else if (kind === 'call') callsHandlers = true;
  }
  const isCalling = asksServers || callsHandlers;
  // In one piece: copies of objects of so many parts cost more than all the rest of this.
  return {
    connections: snapshot.connections,
    session,
    variables,
    how,
    validateInput: pipeline.validateInput,
    onWritten: pipeline.onWritten,
    sources: snapshot.cache.sources,
    headers: how.headers,
    addStatements: how.budget?.addStatements,
    onAsked: how.onAsked,
    onCost:
      observeCost === undefined
        ? undefined
        : (source, cost) => observeCost({ kind: 'query-cost', requestId: how.requestId ?? '', source, ...cost, trace: how.trace }),
    actions: isCalling
      ? { call: pipeline.callHandler, use: budget?.handlers ?? { bytes: 0 }, later: pipeline.laterCalls ?? null, query: document }
      : undefined,
    joinBounds: isCalling ? { maxKeys: joinBounds.maxKeys, maxBytes: joinBounds.maxBytes, use: budget?.joins ?? noJoinUse() } : undefined,
    onCookie: isCalling ? how.onCookie : undefined,
    intake: how.intake ?? new AnswerLimit(pipeline.responseLimit),
    tags,
    callRemote: asksServers ? pipeline.remotes(snapshot.remotes, budget?.answers) : undefined,
  };
}
