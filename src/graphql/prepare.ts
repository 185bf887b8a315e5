/**
 * From a request to the plan that answers it, whatever brought the request: HTTP, a REST endpoint, a socket, explain, or the data
 * operations. Two steps, because the kind of the operation is known before it is planned: `prepare` reads the document,
 * `planOperationFor` plans it for its variables. Both are found in the operation cache where they were made before.
 */
import { isAdmin, type Session } from '../auth/session.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { MutationRoot } from '../ir/mutation.ts';
import type { SelectRoot } from '../ir/select.ts';
import { type Span, spanTime } from '../observability/tracing/span.ts';
import { type Plan, planOperation } from '../plan/plan.ts';
import type { Variables } from '../schema/constraint.ts';
import type { RoleSchema } from '../schema/translation.ts';
import type { Path } from '../util/path.ts';
import { checkSize, type RoleLimits } from './api-limits.ts';
import type { BatchBudget } from './batch-budget.ts';
import type { CachedOperation } from './operation-cache.ts';
import type { GraphqlRequest } from './request.ts';
import { RequestSize } from './request-size.ts';
import type { RequestPipeline, RequestSnapshot } from './run-request.ts';

/** The schema that a session sees. */
export function schemaOf(snapshot: Pick<RequestSnapshot, 'roleSchema'>, session: Session): RoleSchema {
  return snapshot.roleSchema(session.role, session.backendOnly ? 'backend' : 'frontend');
}

/** What was thrown for a request of a session, without what its role may not know of the schema. */
export function discreet(thrown: unknown, snapshot: Pick<RequestSnapshot, 'roleSchema'>, session: Session): unknown {
  return thrown instanceof SvcError && schemaOf(snapshot, session).introspectionDisabled ? thrown.forStrangers() : thrown;
}

/**
 * Reads a document: the allow-list, the limits of documents, of the role and of the batch hold from here on. What it gives tells the
 * kind of the operation (`prepared.kind`); nothing has been planned, and no variable was looked at.
 * @param limits of the role; null: none
 * @param budget of the batch that the request is part of
 * @throws SvcError
 */
export function prepare(
  pipeline: Pick<RequestPipeline, 'allowList' | 'operations'>,
  snapshot: Pick<RequestSnapshot, 'roleSchema' | 'storedOperations'>,
  session: Session,
  request: Pick<GraphqlRequest, 'query' | 'operationName'>,
  limits: RoleLimits | null,
  budget?: BatchBudget,
  trace?: Span,
): CachedOperation {
  const schema = schemaOf(snapshot, session);
  pipeline.allowList?.check(snapshot.storedOperations, session, request.query);
  budget?.read(request.query);
  const { operations } = pipeline;
  const began = trace?.isSampled === true ? { at: spanTime(), misses: operations.counts.operationMisses } : null;
  const operation = operations.operation(schema, request.query, request.operationName);
  if (began !== null && operations.counts.operationMisses > began.misses) trace?.child('graphql.parse', 'internal', began.at).end();
  const { size } = operation.prepared;
  if (limits !== null) checkSize(limits, size);
  budget?.enter(size);
  return operation;
}

/**
 * The plan of an operation for variables like these.
 * @param variables as `operation.prepared.variables` made them
 * @throws SvcError
 */
export function planOperationFor(
  pipeline: Pick<RequestPipeline, 'operations' | 'compilerOf'>,
  snapshot: RequestSnapshot,
  operation: CachedOperation,
  variables: Variables,
  budget?: BatchBudget,
  trace?: Span,
): Plan {
  const plan = pipeline.operations.plan(operation, variables, () => {
    const span = trace?.isSampled === true ? trace.child('graphql.plan') : undefined;
    try {
      const translated = operation.prepared.translate(variables);
      budget?.looked(translated.parts);
      return planOperation(translated, (source) => pipeline.compilerOf(snapshot, source));
    } finally {
      span?.end();
    }
  });
  budget?.run(plan);
  return plan;
}

/** A request for rows of one source that is no document. */
export interface DataRequest {
  readonly source: string;
  /** For errors. */
  readonly path: Path;
  /** @param size counts what is translated @throws SvcError */
  translate(size: RequestSize): SelectRoot | MutationRoot;
}

/** The plan of a request that is no document: held to the same limits; none is on the allow-list. @throws SvcError */
export function planData(
  pipeline: Pick<RequestPipeline, 'allowList' | 'compilerOf' | 'limits'>,
  snapshot: RequestSnapshot,
  session: Session,
  { source, path, translate }: DataRequest,
  limits: RoleLimits | null,
  budget?: BatchBudget,
): Plan {
  if (pipeline.allowList !== null && !isAdmin(session)) {
    throw new SvcError('access-denied', 'only the operations of the allow-list are allowed', { path });
  }
  const measured = new RequestSize(pipeline.limits);
  const root = translate(measured);
  const size = measured.size();
  if (limits !== null) checkSize(limits, size);
  budget?.enter(size);
  const plan = planOperation(
    {
      kind: root.mutation === undefined ? 'query' : 'mutation',
      name: null,
      response: { kind: 'root', index: 0 },
      joins: [],
      roots: [{ kind: 'source', source, path, responseKey: root.alias, root }],
      constraints: [],
      reusable: false,
    },
    (name) => pipeline.compilerOf(snapshot, name),
  );
  budget?.run(plan);
  return plan;
}
