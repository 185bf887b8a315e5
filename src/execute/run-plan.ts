/** Runs the steps of a plan and splices the database's JSON bytes into the response, unparsed. */
import type { JsonRow, Source } from '../backend/backend.ts';
import { invariant, SvcError } from '../errors/svc-error.ts';
import { bindAll, bindInput } from '../plan/bind.ts';
import type { Plan, SelectStep, Step } from '../plan/plan.ts';
import { type Bytes, bytesOfText } from '../util/bytes.ts';
import type { RunContext } from './run-context.ts';
import { runMutation } from './run-mutation.ts';

/**
 * The steps of a query run at the same time, those of a mutation one after another until one fails.
 * @returns the bytes of the whole response body, `{"data":…}`, in pieces
 * @throws SvcError of the first step that failed
 */
export async function runPlan(plan: Plan, context: RunContext): Promise<readonly Bytes[]> {
  const { steps } = plan;
  if (plan.validations.length > 0) await validateInput(plan, context);
  let rows: readonly JsonRow[];
  if (steps.length === 1) rows = [await runStep(steps[0] as Step, plan, context)];
  else if (steps.length === 0) rows = [];
  else if (plan.kind === 'mutation') rows = await runInOrder(plan, context);
  else rows = await Promise.all(steps.map((step) => runStep(step, plan, context)));
  const body: Bytes[] = [];
  for (const part of plan.template) {
    if (typeof part === 'string') body.push(part);
    else if ('produce' in part) body.push(bytesOfText(await part.produce()));
    else {
      const cell = rows[part.step]?.[part.column];
      if (cell === null || cell === undefined) body.push(part.absent);
      else for (const chunk of cell) body.push(chunk);
    }
  }
  return body;
}

/** One hook after another, so that the first one that refuses is the error. @throws SvcError and then nothing has been changed */
async function validateInput({ validations }: Plan, context: RunContext): Promise<void> {
  const { validateInput: ask, session, variables, how, headers } = context;
  invariant(ask !== undefined, 'whoever runs plans with validations can validate');
  for (const { hook, input } of validations) {
    await ask({ hook, input: bindInput(input, variables), session, how, ...(headers === undefined ? {} : { headers }) });
  }
}

async function runInOrder(plan: Plan, context: RunContext): Promise<readonly JsonRow[]> {
  const rows: JsonRow[] = [];
  for (const step of plan.steps) rows.push(await runStep(step, plan, context));
  return rows;
}

function runStep(step: Step, plan: Plan, context: RunContext): Promise<JsonRow> {
  const source = context.connections.get(step.source);
  if (source === undefined) {
    return Promise.reject(new SvcError('unexpected', `source with name "${step.source}" is inconsistent`));
  }
  return step.kind === 'select' ? runSelect(step, source, context) : runMutation(step, source, plan.reusable, context);
}

function runSelect(step: SelectStep, source: Source, context: RunContext): Promise<JsonRow> {
  let values: readonly (string | null)[];
  try {
    values = bindAll(step.binders, context.variables, context.session);
  } catch (error) {
    return Promise.reject(error);
  }
  const { signal, deadline } = context.how;
  return source.runJson(step.statement, values, { signal, deadline, mayLag: true });
}
