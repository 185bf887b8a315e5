import type { Session } from '../auth/session.ts';
import { shortened } from '../errors/shortened.ts';
import type { Value } from '../ir/value.ts';
import { MASKED, maskVariables } from '../observability/masked-variables.ts';
import type { LoggedRemoteRequest, LoggedStatement, QueryObservation, SlowQueryObservation } from '../observability/observation.ts';
import { bindAll, type JoinValues } from '../plan/bind.ts';
import type { OperationPlan, SelectStep } from '../plan/plan.ts';
import { remoteJoinRequest } from '../plan/remote-request.ts';
import type { Variables } from '../graphql-engine/constraint.ts';
import type { JsonObject } from '../util/json.ts';
import { printFieldPath } from './field-path.ts';
import type { GraphqlRequest } from './request.ts';

const NONE: ReadonlySet<string> = new Set();

/**
 * Describes a query for logs: the request and the statements of its root fields.
 * @param masked variables whose values are not logged, neither in the request nor in the statements
 * @throws SvcError for an invalid value, as running the plan would
 */
export function queryObservation(
  requestId: string,
  request: GraphqlRequest,
  plan: OperationPlan,
  variables: Variables,
  session: Session,
  masked: ReadonlySet<string> = NONE,
): QueryObservation {
  const hidden = new Set(Object.keys(request.variables).filter((name) => masked.has(name)));
  /** The plan itself depends on the values of hidden variables. */
  const dependsOnHidden = hidden.size > 0 && (!plan.reusable || plan.constraints.some(({ variable }) => hidden.has(variable)));
  const statements = new Map<string, LoggedStatement>();
  const remoteRequests = new Map<string, LoggedRemoteRequest>();
  const addRemote = (key: string, remoteSchema: string, document: string): void => {
    remoteRequests.set(key, { remoteSchema, document: dependsOnHidden ? MASKED : document });
  };
  for (const step of plan.steps) {
    if (step.kind === 'remote') addRemote(step.root.responseKey, step.remote, step.request.document);
    if (step.kind !== 'select') continue;
    const values = bindAll(step.binders, variables, session, NO_KEYS);
    const statement = maskedStatement({ text: step.statement.text, values }, step, dependsOnHidden, hidden);
    for (const responseKey of step.responseKeys) {
      // Namespaces of two sources may use the same key.
      statements.set(statements.has(responseKey) ? `${step.source}.${responseKey}` : responseKey, statement);
    }
  }
  for (const join of plan.joins) {
    const key = printFieldPath(join.path);
    if (join.kind === 'remote') addRemote(key, join.target.remote, remoteJoinRequest(join.target.field, 1).document);
    else {
      const joining = { ...NO_KEYS, keys: join.target.columns.map(() => []) };
      const values = bindAll(join.binders, variables, session, joining);
      statements.set(key, maskedStatement({ text: join.statement.text, values }, join, dependsOnHidden, hidden));
    }
  }
  const query = requestJson({ ...request, variables: maskVariables(request.variables, masked) });
  return {
    kind: 'query',
    requestId,
    query,
    statements: statements.size === 0 ? null : statements,
    ...(remoteRequests.size === 0 ? {} : { remoteRequests }),
  };
}

/** Describes a query with a cached response for logs. */
export function cachedObservation(requestId: string, request: GraphqlRequest, masked: ReadonlySet<string> = NONE): QueryObservation {
  const query = requestJson({ ...request, variables: maskVariables(request.variables, masked) });
  return { kind: 'query', requestId, query, statements: null, isCached: true };
}

/** Join values before anything has run. */
const NO_KEYS: JoinValues = { placeholderName: 'placeholder', keys: [] };

/**
 * Masks the values of hidden variables in a statement. If the plan depends on them, their values may be literals or numbers in its text,
 * and the text and all literals are masked.
 */
function maskedStatement(
  { text, values }: LoggedStatement,
  { statement }: Pick<SelectStep, 'statement'>,
  dependsOnHidden: boolean,
  hidden: ReadonlySet<string>,
): LoggedStatement {
  if (hidden.size === 0) return { text, values };
  const isHidden = (value: Value): boolean => {
    switch (value.kind) {
      case 'literal':
        return dependsOnHidden;
      case 'variable':
      case 'members':
        return hidden.has(value.name);
      case 'list':
        return value.items.some(isHidden);
      default:
        return false;
    }
  };
  return {
    text: dependsOnHidden ? MASKED : text,
    values: values.map((value, i) => {
      const parameter = statement.parameters[i];
      return parameter !== undefined && isHidden(parameter.operand.value) ? MASKED : value;
    }),
  };
}

/** Maximum length of a logged document, in characters. */
const MAX_DOCUMENT = 10_000;

/** Describes a slow operation for logs, without any values. */
export function slowQueryObservation(
  { query, operationName }: GraphqlRequest,
  plan: OperationPlan,
  { role }: Session,
  requestId: string,
  duration: number,
): SlowQueryObservation {
  const statements: { readonly source: string; readonly sql: string }[] = [];
  for (const step of plan.steps) {
    if (step.kind === 'select') statements.push({ source: step.source, sql: step.statement.text });
    else if (step.kind === 'mutation') {
      for (const { statement } of step.statements) statements.push({ source: step.source, sql: statement.text });
    }
  }
  for (const join of plan.joins) if (join.kind !== 'remote') statements.push({ source: join.target.source, sql: join.statement.text });
  const type = plan.kind === 'mutation' ? 'mutation' : 'query';
  return { kind: 'slow-query', requestId, role, operationName, type, duration, document: shortened(query, MAX_DOCUMENT), statements };
}

/** Returns the request in the form in which clients send it: for logs, without the text of a stored document. */
export function requestJson({ query, document, unknownId, operationName, variables }: GraphqlRequest): JsonObject {
  const stored = document?.stored ?? null;
  if (unknownId !== undefined) return { document: { id: unknownId }, ...(operationName === null ? {} : { operationName }) };
  return {
    ...(document === undefined || stored === null ? { query } : { document: { id: document.id, collection: stored.collection } }),
    ...(operationName === null ? {} : { operationName }),
    ...(Object.keys(variables).length === 0 ? {} : { variables }),
  };
}
