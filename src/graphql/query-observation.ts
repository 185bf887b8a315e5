import type { Session } from '../auth/session.ts';
import type { LoggedStatement, QueryObservation } from '../observability/observation.ts';
import { bindAll } from '../plan/bind.ts';
import type { Plan } from '../plan/plan.ts';
import type { Variables } from '../schema/constraint.ts';
import type { JsonObject } from '../util/json.ts';
import type { GraphqlRequest } from './request.ts';

/**
 * What is told of a query: the request and the statements that its root fields share.
 * @throws SvcError of a value that does not fit, as running the plan would
 */
export function queryObservation(
  requestId: string,
  request: GraphqlRequest,
  plan: Plan,
  variables: Variables,
  session: Session,
): QueryObservation {
  const statements = new Map<string, LoggedStatement>();
  for (const step of plan.steps) {
    if (step.kind !== 'select') continue;
    const statement = { text: step.statement.text, values: bindAll(step.binders, variables, session) };
    for (const { source, responseKey } of step.roots) {
      // Namespaces of two sources may have the same key.
      statements.set(statements.has(responseKey) ? `${source}.${responseKey}` : responseKey, statement);
    }
  }
  return { kind: 'query', requestId, query: requestJson(request), statements: plan.steps.length === 0 ? null : statements };
}

/** The request as it came. */
export function requestJson({ query, operationName, variables }: GraphqlRequest): JsonObject {
  return {
    query,
    ...(operationName === null ? {} : { operationName }),
    ...(Object.keys(variables).length === 0 ? {} : { variables }),
  };
}
