import type { Session } from '../auth/session.ts';
import type { Value } from '../ir/value.ts';
import { MASKED, maskVariables } from '../observability/masked-variables.ts';
import type { LoggedStatement, QueryObservation } from '../observability/observation.ts';
import { bindAll } from '../plan/bind.ts';
import type { Plan, SelectStep } from '../plan/plan.ts';
import type { Variables } from '../schema/constraint.ts';
import type { JsonObject } from '../util/json.ts';
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
  const hidden = hiddenValues(plan, masked);
  const statements = new Map<string, LoggedStatement>();
  for (const step of plan.steps) {
    if (step.kind !== 'select') continue;
    const statement = { text: step.statement.text, values: shownValues(step, bindAll(step.binders, variables, session), hidden) };
    for (const { source, responseKey } of step.roots) {
      // Namespaces of two sources may have the same key.
      statements.set(statements.has(responseKey) ? `${source}.${responseKey}` : responseKey, statement);
    }
  }
  const query = requestJson({ ...request, variables: maskVariables(request.variables, masked) });
  return { kind: 'query', requestId, query, statements: plan.steps.length === 0 ? null : statements };
}

/** Which values of the statements come from variables that are not told; null: none. */
function hiddenValues({ reusable, constraints }: Plan, masked: ReadonlySet<string>): ((value: Value) => boolean) | null {
  if (masked.size === 0) return null;
  // What a plan took from such a variable when it was made is a literal in it.
  const literals = !reusable || constraints.some(({ variable }) => masked.has(variable));
  const isHidden = (value: Value): boolean => {
    switch (value.kind) {
      case 'literal':
        return literals;
      case 'variable':
      case 'members':
        return masked.has(value.name);
      case 'list':
        return value.items.some(isHidden);
      default:
        return false;
    }
  };
  return isHidden;
}

type Values = LoggedStatement['values'];

function shownValues({ statement }: SelectStep, values: Values, isHidden: ((value: Value) => boolean) | null): Values {
  if (isHidden === null) return values;
  return values.map((text, i) => {
    const parameter = statement.parameters[i];
    return parameter !== undefined && isHidden(parameter.operand.value) ? MASKED : text;
  });
}

/** The request as it came. */
export function requestJson({ query, operationName, variables }: GraphqlRequest): JsonObject {
  return {
    query,
    ...(operationName === null ? {} : { operationName }),
    ...(Object.keys(variables).length === 0 ? {} : { variables }),
  };
}
