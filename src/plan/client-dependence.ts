/** Decides whether the answer of a plan may differ between clients of a role. */
import type { Value } from '../ir/value.ts';
import type { Parameter } from '../sql/fragment.ts';
import type { OperationPlan } from './plan.ts';

const byPlan = new WeakMap<OperationPlan, boolean>();

/** Returns true if the answer may depend on more than the role and the variables: on session variables, or on what other servers get. */
export function dependsOnClient(plan: OperationPlan): boolean {
  let depends = byPlan.get(plan);
  if (depends === undefined) {
    depends =
      plan.steps.some((step) => step.kind !== 'select' || readsSession(step.statement.parameters)) ||
      plan.joins.some((join) => join.kind !== 'source' || readsSession(join.statement.parameters));
    byPlan.set(plan, depends);
  }
  return depends;
}

function readsSession(parameters: readonly Parameter[]): boolean {
  return parameters.some(({ operand }) => isOfSession(operand.value));
}

function isOfSession(value: Value): boolean {
  switch (value.kind) {
    case 'session':
    case 'session-variables':
      return true;
    case 'list':
      return value.items.some(isOfSession);
    case 'cursor':
      return isOfSession(value.start);
    default:
      return false;
  }
}
