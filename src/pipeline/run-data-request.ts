/** Runs a data operation with the same admission, limits and planning as a GraphQL document. */
import { invariant } from '../errors/svc-error.ts';
import type { OperationPlan } from '../plan/plan.ts';
import { type Body, type Bytes, sliceBytes, wholeBytes } from '../util/bytes.ts';
import { withAdmission } from './around/with-admission.ts';
import { type DataRequest, planData } from './prepare.ts';
import type { RequestRun } from './request-run.ts';
import { runContext } from './run-context.ts';
import { runReserved } from './run-request.ts';

export interface CheckedDataRequest extends DataRequest {
  /** Called before it runs. @throws SvcError */
  check?(plan: OperationPlan): void;
}

const BEFORE = '{"data":';
const AFTER = '}';

/** @returns the JSON of the root as the database printed it. @throws SvcError */
export function runDataRequest(data: RequestRun<CheckedDataRequest>): Promise<readonly Bytes[]> {
  return withAdmission(data, async (run, limits) => {
    const plan = planData(run, limits);
    run.request.check?.(plan);
    return rootOf(await runReserved(plan, runContext({ ...run, plan, variables: {} }, null), run.options.reservation));
  });
}

/** Strips the enclosing `{"data":…}`. */
function rootOf(response: Body): readonly Bytes[] {
  const body = wholeBytes(response);
  const first = body[0];
  const last = body.at(-1);
  invariant(first?.startsWith(BEFORE) === true && last?.endsWith(AFTER) === true, 'the response to a data operation is its root');
  const pieces = [sliceBytes(first, BEFORE.length), ...body.slice(1)];
  pieces.push(sliceBytes(pieces.pop() ?? first, 0, -AFTER.length));
  return pieces;
}
