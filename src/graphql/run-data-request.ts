/** The path of a request for rows that is no GraphQL document: it is let in, limited, planned and run like one. */
import type { Session } from '../auth/session.ts';
import { runPlan } from '../execute/run-plan.ts';
import type { Plan } from '../plan/plan.ts';
import { textOfBytes } from '../util/bytes.ts';
import { isJsonObject, type Json, parseJson } from '../util/json.ts';
import { type DataRequest, planData } from './prepare.ts';
import { admitted, type RequestOptions, type RequestPipeline, type RequestSnapshot, runContext } from './run-request.ts';

export interface CheckedDataRequest extends DataRequest {
  /** Before it is run. @throws SvcError */
  check?(plan: Plan): void;
}

/** @returns the JSON of the root @throws SvcError */
export function runDataRequest(
  pipeline: RequestPipeline,
  snapshot: RequestSnapshot,
  session: Session,
  request: CheckedDataRequest,
  options: RequestOptions,
): Promise<Json> {
  return admitted(pipeline, snapshot, session, options, async (how, limits) => {
    const plan = planData(pipeline, snapshot, session, request, limits, how.budget);
    request.check?.(plan);
    const body = await runPlan(plan, runContext(pipeline, snapshot, plan, session, {}, how));
    const answer = parseJson(textOfBytes(body));
    return isJsonObject(answer) ? (answer['data'] ?? null) : null;
  });
}
