/** Runs the steps of a plan and splices the database's JSON bytes into the response, unparsed. */
import type { Session } from '../auth/session.ts';
import type { JsonRow, RunOptions, Source } from '../backend/backend.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { Plan, Step } from '../plan/plan.ts';
import type { Variables } from '../schema/constraint.ts';

export interface RunContext {
  readonly connections: ReadonlyMap<string, Source>;
  readonly session: Session;
  readonly variables: Variables;
  readonly how: RunOptions;
}

const NULL = Buffer.from('null');

/**
 * @returns the bytes of the whole response body, `{"data":…}`, in pieces
 * @throws SvcError of the first step that failed
 */
export async function runPlan(plan: Plan, context: RunContext): Promise<readonly Buffer[]> {
  const { steps } = plan;
  let rows: readonly JsonRow[];
  if (steps.length === 1) rows = [await runStep(steps[0] as Step, context)];
  else if (steps.length === 0) rows = [];
  else rows = await Promise.all(steps.map((step) => runStep(step, context)));
  const body: Buffer[] = [];
  for (const part of plan.template) {
    if (Buffer.isBuffer(part)) body.push(part);
    else if ('produce' in part) body.push(Buffer.from(await part.produce()));
    else {
      const cell = rows[part.step]?.[part.column];
      if (cell === null || cell === undefined) body.push(NULL);
      else for (const chunk of cell) body.push(chunk);
    }
  }
  return body;
}

function runStep(step: Step, context: RunContext): Promise<JsonRow> {
  const source = context.connections.get(step.source);
  if (source === undefined) {
    return Promise.reject(new SvcError('unexpected', `source with name "${step.source}" is inconsistent`));
  }
  const values: (string | null)[] = [];
  try {
    for (const bind of step.binders) values.push(bind(context.variables, context.session));
  } catch (error) {
    return Promise.reject(error);
  }
  return source.runJson(step.statement, values, context.how);
}
