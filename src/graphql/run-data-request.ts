/** The path of a request for rows that is no GraphQL document: it is let in, limited, planned and run like one. */
import type { Session } from '../auth/session.ts';
import { invariant } from '../errors/svc-error.ts';
import { runPlan } from '../execute/run-plan.ts';
import type { Plan } from '../plan/plan.ts';
import { type Bytes, sliceBytes } from '../util/bytes.ts';
import { type DataRequest, planData } from './prepare.ts';
import { admitted, type RequestOptions, type RequestPipeline, type RequestSnapshot, runContext } from './run-request.ts';

export interface CheckedDataRequest extends DataRequest {
  /** Before it is run. @throws SvcError */
  check?(plan: Plan): void;
}

const BEFORE = '{"data":';
const AFTER = '}';

/** @returns the JSON of the root, as the database printed it @throws SvcError */
export function runDataRequest(
  pipeline: RequestPipeline,
  snapshot: RequestSnapshot,
  session: Session,
  request: CheckedDataRequest,
  options: RequestOptions,
): Promise<readonly Bytes[]> {
  return admitted(pipeline, snapshot, session, options, async (how, limits) => {
    const plan = planData(pipeline, snapshot, session, request, limits, how.budget);
    request.check?.(plan);
    return rootOf(await runPlan(plan, runContext(pipeline, snapshot, plan, session, {}, how)));
  });
}

/** What stands in `{"data":…}`. */
function rootOf(body: readonly Bytes[]): readonly Bytes[] {
  const first = body[0];
  const last = body.at(-1);
  invariant(first?.startsWith(BEFORE) === true && last?.endsWith(AFTER) === true, 'the answer to a request for rows is its root');
  const pieces = [sliceBytes(first, BEFORE.length), ...body.slice(1)];
  pieces.push(sliceBytes(pieces.pop() ?? first, 0, -AFTER.length));
  return pieces;
}
