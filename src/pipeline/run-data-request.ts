/** The path of a request for rows that is no GraphQL document: it is let in, limited, planned and run like one. */
import { invariant } from '../errors/svc-error.ts';
import type { Plan } from '../plan/plan.ts';
import { type Body, type Bytes, sliceBytes, wholeBytes } from '../util/bytes.ts';
import { withAdmission } from './around/admitted.ts';
import { type DataRequest, planData } from './prepare.ts';
import type { RequestRun } from './request-run.ts';
import { runContext } from './run-context.ts';
import { runWithin } from './run-request.ts';

export interface CheckedDataRequest extends DataRequest {
  /** Before it is run. @throws SvcError */
  check?(plan: Plan): void;
}

const BEFORE = '{"data":';
const AFTER = '}';

/** @returns the JSON of the root, as the database printed it @throws SvcError */
export function runDataRequest(data: RequestRun<CheckedDataRequest>): Promise<readonly Bytes[]> {
  return withAdmission(data, async (run, limits) => {
    const plan = planData(run, limits);
    run.request.check?.(plan);
    return rootOf(await runWithin(plan, runContext({ ...run, plan, variables: {} }, null), run.how.hold));
  });
}

/** What stands in `{"data":…}`. */
function rootOf(answer: Body): readonly Bytes[] {
  const body = wholeBytes(answer);
  const first = body[0];
  const last = body.at(-1);
  invariant(first?.startsWith(BEFORE) === true && last?.endsWith(AFTER) === true, 'the answer to a request for rows is its root');
  const pieces = [sliceBytes(first, BEFORE.length), ...body.slice(1)];
  pieces.push(sliceBytes(pieces.pop() ?? first, 0, -AFTER.length));
  return pieces;
}
