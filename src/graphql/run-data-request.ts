/** The path of a request for rows that is no GraphQL document: it is let in, limited, planned and run like one. */
import { isAdmin, type Session } from '../auth/session.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { MutationRoot } from '../ir/mutation.ts';
import type { SelectRoot } from '../ir/select.ts';
import { runPlan } from '../execute/run-plan.ts';
import { type Plan, planOperation } from '../plan/plan.ts';
import { textOfBytes } from '../util/bytes.ts';
import { isJsonObject, type Json, parseJson } from '../util/json.ts';
import type { Path } from '../util/path.ts';
import { checkSize } from './api-limits.ts';
import { RequestSize } from './request-size.ts';
import { admitted, type RequestOptions, type RequestPipeline, type RequestSnapshot, runContext } from './run-request.ts';

export interface DataRequest {
  readonly source: string;
  /** For errors. */
  readonly path: Path;
  /** @param size counts what is translated @throws SvcError */
  translate(size: RequestSize): SelectRoot | MutationRoot;
  /** Before it is run. @throws SvcError */
  check?(plan: Plan): void;
}

/** @returns the JSON of the root @throws SvcError */
export function runDataRequest(
  pipeline: RequestPipeline,
  snapshot: RequestSnapshot,
  session: Session,
  request: DataRequest,
  options: RequestOptions,
): Promise<Json> {
  return admitted(pipeline, snapshot, session, options, async (how, limits) => {
    if (pipeline.allowList !== null && !isAdmin(session)) {
      throw new SvcError('access-denied', 'only the operations of the allow-list are allowed', { path: request.path });
    }
    const { source, path } = request;
    const measured = new RequestSize(pipeline.limits);
    const root = request.translate(measured);
    const size = measured.size();
    if (limits !== null) checkSize(limits, size);
    how.budget?.enter(size);
    const plan = planOperation(
      {
        kind: root.mutation === undefined ? 'query' : 'mutation',
        name: null,
        response: { kind: 'root', index: 0 },
        joins: [],
        roots: [{ kind: 'source', source, path, responseKey: root.alias, root }],
        constraints: [],
        reusable: false,
      },
      (name) => pipeline.compilerOf(snapshot, name),
    );
    how.budget?.run(plan);
    request.check?.(plan);
    const body = await runPlan(plan, runContext(pipeline, snapshot, plan, session, {}, how));
    const answer = parseJson(textOfBytes(body));
    return isJsonObject(answer) ? (answer['data'] ?? null) : null;
  });
}
