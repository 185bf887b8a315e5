import type { Session } from '../auth/session.ts';
import { shortened } from '../errors/shortened.ts';
import type { Value } from '../ir/value.ts';
import { MASKED, maskVariables } from '../observability/masked-variables.ts';
import type { LoggedRemoteRequest, LoggedStatement, QueryObservation, SlowQueryObservation } from '../observability/observation.ts';
import { bindAll, type JoinValues } from '../plan/bind.ts';
import type { Plan, SelectStep } from '../plan/plan.ts';
import { remoteJoinRequest } from '../plan/remote-request.ts';
import type { Variables } from '../graphql-engine/constraint.ts';
import type { JsonObject } from '../util/json.ts';
import { printFieldPath } from './field-path.ts';
import type { GraphqlRequest } from './request.ts';

const NONE: ReadonlySet<string> = new Set();

/**
 * What is told of a query: the request and the statements that its root fields share.
 * @param masked variables whose values are not told, neither in the request nor in the statements
 * @throws SvcError of a value that does not fit, as running the plan would
 */
export function queryObservation(
  requestId: string,
  request: GraphqlRequest,
  plan: Plan,
  variables: Variables,
  session: Session,
  masked: ReadonlySet<string> = NONE,
): QueryObservation {
  const hidden = new Set(Object.keys(request.variables).filter((name) => masked.has(name)));
  const isMadeOfThem = hidden.size > 0 && (!plan.reusable || plan.constraints.some(({ variable }) => hidden.has(variable)));
  const statements = new Map<string, LoggedStatement>();
  const remoteRequests = new Map<string, LoggedRemoteRequest>();
  const addRemote = (key: string, remoteSchema: string, document: string): void => {
    remoteRequests.set(key, { remoteSchema, document: isMadeOfThem ? MASKED : document });
  };
  for (const step of plan.steps) {
    if (step.kind === 'remote') addRemote(step.root.responseKey, step.remote, step.request.document);
    if (step.kind !== 'select') continue;
    const values = bindAll(step.binders, variables, session, NO_KEYS);
    const statement = shown({ text: step.statement.text, values }, step, isMadeOfThem, hidden);
    for (const responseKey of step.responseKeys) {
      // Namespaces of two sources may have the same key.
      statements.set(statements.has(responseKey) ? `${step.source}.${responseKey}` : responseKey, statement);
    }
  }
  for (const join of plan.joins) {
    const key = printFieldPath(join.path);
    if (join.kind === 'remote') addRemote(key, join.target.remote, remoteJoinRequest(join.target.field, 1).document);
    else {
      const joining = { ...NO_KEYS, keys: join.target.columns.map(() => []) };
      const values = bindAll(join.binders, variables, session, joining);
      statements.set(key, shown({ text: join.statement.text, values }, join, isMadeOfThem, hidden));
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

/** What is told of a query whose answer was kept. */
export function cachedObservation(requestId: string, request: GraphqlRequest, masked: ReadonlySet<string> = NONE): QueryObservation {
  const query = requestJson({ ...request, variables: maskVariables(request.variables, masked) });
  return { kind: 'query', requestId, query, statements: null, isCached: true };
}

/** What a statement is bound with before anything has run. */
const NO_KEYS: JoinValues = { holeName: 'hole', keys: [] };

/**
 * A statement without what it has from variables that are not told. What a plan took from such a variable when it was made is
 * a literal in it or a number in its text, and nobody knows which.
 */
function shown(
  { text, values }: LoggedStatement,
  { statement }: Pick<SelectStep, 'statement'>,
  isMadeOfThem: boolean,
  masked: ReadonlySet<string>,
): LoggedStatement {
  if (masked.size === 0) return { text, values };
  const isHidden = (value: Value): boolean => {
    switch (value.kind) {
      case 'literal':
        return isMadeOfThem;
      case 'variable':
      case 'members':
        return masked.has(value.name);
      case 'list':
        return value.items.some(isHidden);
      default:
        return false;
    }
  };
  return {
    text: isMadeOfThem ? MASKED : text,
    values: values.map((value, i) => {
      const parameter = statement.parameters[i];
      return parameter !== undefined && isHidden(parameter.operand.value) ? MASKED : value;
    }),
  };
}

/** Characters of a document that was slow. */
const LONGEST_DOCUMENT = 10_000;

/** What was slow, without any value. */
export function slowQueryObservation(
  { query, operationName }: GraphqlRequest,
  plan: Plan,
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
  return { kind: 'slow-query', requestId, role, operationName, type, duration, document: shortened(query, LONGEST_DOCUMENT), statements };
}

/** The request as it came. */
export function requestJson({ query, operationName, variables }: GraphqlRequest): JsonObject {
  return {
    query,
    ...(operationName === null ? {} : { operationName }),
    ...(Object.keys(variables).length === 0 ? {} : { variables }),
  };
}
