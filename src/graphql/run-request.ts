/** The path of a GraphQL request: session and snapshot in, response bytes out. */
import type { Session } from '../auth/session.ts';
import type { Compiler, RunOptions, Source } from '../backend/backend.ts';
import { SvcError } from '../errors/svc-error.ts';
import { runPlan } from '../execute/run-plan.ts';
import { planOperation } from '../plan/plan.ts';
import type { RoleSchema } from '../schema/translation.ts';
import type { SchemaCache } from '../schema-cache/schema-cache.ts';
import type { OperationCache } from './operation-cache.ts';
import type { GraphqlRequest } from './request.ts';

/** What a request needs of a snapshot. */
export interface RequestSnapshot {
  readonly cache: Pick<SchemaCache, 'sources'>;
  readonly connections: ReadonlyMap<string, Source>;
  roleSchema(role: string, variant: 'frontend' | 'backend'): RoleSchema;
}

export interface RequestPipeline {
  readonly operations: OperationCache;
  /** The compiler of a source. */
  compilerOf(snapshot: RequestSnapshot, source: string): Compiler;
}

export interface RequestOptions extends RunOptions {
  /** Mutations are refused: the request must be safe to repeat and to link to. */
  readonly queriesOnly?: boolean;
}

/**
 * Runs a query over HTTP.
 * @returns the response body `{"data":…}` in pieces
 * @throws SvcError with the position of the fault
 */
export async function runRequest(
  pipeline: RequestPipeline,
  snapshot: RequestSnapshot,
  session: Session,
  request: GraphqlRequest,
  how: RequestOptions,
): Promise<readonly Buffer[]> {
  const schema = snapshot.roleSchema(session.role, session.backendOnly ? 'backend' : 'frontend');
  const operation = pipeline.operations.operation(schema, request.query, request.operationName);
  if (operation.prepared.kind === 'subscription') {
    throw new SvcError('unexpected-payload', 'subscriptions are not supported over HTTP, use websockets instead');
  }
  if (how.queriesOnly === true && operation.prepared.kind !== 'query') {
    throw new SvcError('method-not-allowed', 'only queries are allowed in GET requests', { keepsStatus: true });
  }
  const variables = operation.prepared.variables(request.variables);
  const plan = pipeline.operations.plan(operation, variables, () =>
    planOperation(operation.prepared.translate(variables), (source) => pipeline.compilerOf(snapshot, source)),
  );
  return runPlan(plan, { connections: snapshot.connections, session, variables, how });
}
