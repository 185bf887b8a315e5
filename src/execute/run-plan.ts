/** Runs the steps of a plan and splices their results, which are JSON already, into the response. Nothing is parsed but keys of joins. */
import type { JsonRow } from '../backend/backend.ts';
import { invariant, SvcError } from '../errors/svc-error.ts';
import { bindAll, bindInput, type JoinValues } from '../plan/bind.ts';
import type { Plan, RemoteStep, SelectStep, Step } from '../plan/plan.ts';
import { answerKeyOf, bindRemote } from '../plan/remote-request.ts';
import type { Bytes } from '../util/bytes.ts';
import { CancellationSource } from '../util/cancellation.ts';
import { at, ROOT } from '../util/path.ts';
import { inSlices } from '../util/sliced.ts';
import { DEFAULT_JOIN_BOUNDS, Holes, newHoleName, noJoinUse } from './holes.ts';
import { answerParts, RemoteAnswer } from './remote-answer.ts';
import { askRemote, type BoundedContext, connectionOf, readOptions, type RunContext, runRead } from './run-context.ts';
import { joinAsker } from './run-joins.ts';
import { type ActionInputs, actionInputs, runAction } from './run-action.ts';
import { runMutation } from './run-mutation.ts';
import { tracedStatement } from './traced.ts';

/** A cell of a result with its place in the response. */
type Cell = readonly Bytes[] | null | undefined;

/**
 * The steps of a query run at the same time, those of a mutation one after another until one fails; then what the
 * answers join from elsewhere.
 * @returns the bytes of the whole response body, `{"data":…}`, in pieces
 * @throws SvcError of the first step that failed
 */
export function runPlan(plan: Plan, context: RunContext): Promise<readonly Bytes[]> {
  // Most plans are one statement of one database: nothing of theirs is counted, and nothing runs beside it.
  return isOneStatement(plan) ? runWhole(plan, context) : runParts(plan, context);
}

function isOneStatement({ steps, joins }: Plan): boolean {
  const [step] = steps;
  return joins.length === 0 && steps.length === 1 && (step?.kind === 'select' || step?.kind === 'mutation');
}

async function runParts(plan: Plan, context: RunContext): Promise<readonly Bytes[]> {
  const { joinBounds = DEFAULT_JOIN_BOUNDS, how } = context;
  const within = isBounded(context) ? context : { ...context, joinBounds: { ...joinBounds, use: noJoinUse() } };
  if (plan.steps.length <= 1 && plan.joins.length === 0) return runWhole(plan, within);
  const parts = new CancellationSource(how.signal);
  try {
    return await runWhole(plan, { ...within, how: { ...how, signal: parts } });
  } catch (error) {
    // What runs beside the part that failed is for nobody any more.
    parts.cancel();
    throw error;
  }
}

/** The context while a plan runs that counts what it takes. */
function bounded(context: RunContext): BoundedContext {
  invariant(isBounded(context), 'what is not one statement of a database runs within bounds');
  return context;
}

function isBounded(context: RunContext): context is BoundedContext {
  return context.joinBounds?.use !== undefined;
}

async function runWhole(plan: Plan, context: RunContext): Promise<readonly Bytes[]> {
  const { steps } = plan;
  if (plan.validations.length > 0) await validateInput(plan, context);
  const joining: JoinValues | undefined = plan.joins.length === 0 ? undefined : { holeName: newHoleName(), keys: [] };
  const inputs = actionInputs(steps, context);
  const run = (step: Step): Promise<JsonRow> => runStep(step, plan, context, joining, inputs);
  let rows: readonly JsonRow[];
  if (steps.length === 1) rows = [await run(steps[0] as Step)];
  else if (steps.length === 0) rows = [];
  else if (plan.kind === 'mutation') rows = await runInOrder(steps, run);
  else rows = await Promise.all(steps.map(run));
  if (joining !== undefined) rows = await joinRows(rows, plan, context, joining);
  const body: Bytes[] = [];
  for (const part of plan.template) {
    if (typeof part === 'string') body.push(part);
    else if ('produce' in part) for (const piece of await part.produce()) body.push(piece);
    else {
      const cell: Cell = rows[part.step]?.[part.column];
      if (cell === null || cell === undefined) body.push(part.absent);
      else for (const chunk of cell) body.push(chunk);
    }
  }
  return body;
}

/** The rows with their holes filled. */
async function joinRows(rows: readonly JsonRow[], plan: Plan, context: RunContext, { holeName }: JoinValues): Promise<readonly JsonRow[]> {
  const holes = new Holes(plan.joins, holeName, joinAsker(bounded(context), holeName), bounded(context).joinBounds);
  const cells = rows.flatMap((row) => row.flatMap((cell) => (cell === null ? [] : [cell.join('') as Bytes])));
  const filled = (await holes.fill(cells))[Symbol.iterator]();
  return rows.map((row) => row.map((cell) => (cell === null ? null : (filled.next().value as readonly Bytes[]))));
}

/** One hook after another, so that the first one that refuses is the error. @throws SvcError and then nothing has been changed */
async function validateInput({ validations }: Plan, context: RunContext): Promise<void> {
  context.onAsked?.();
  const { validateInput: ask, session, variables, how, headers } = context;
  invariant(ask !== undefined, 'whoever runs plans with validations can validate');
  for (const { hook, input } of validations) {
    await ask({ hook, input: bindInput(input, variables), session, how, ...(headers === undefined ? {} : { headers }) });
  }
}

async function runInOrder(steps: readonly Step[], run: (step: Step) => Promise<JsonRow>): Promise<readonly JsonRow[]> {
  const rows: JsonRow[] = [];
  for (const step of steps) rows.push(await run(step));
  return rows;
}

function runStep(step: Step, plan: Plan, context: RunContext, joining: JoinValues | undefined, inputs: ActionInputs): Promise<JsonRow> {
  try {
    switch (step.kind) {
      case 'select':
        return runSelect(step, context, joining);
      case 'mutation':
        return runMutation(step, connectionOf(context, step.source), plan.reusable, context, joining);
      case 'remote':
        return runRemote(step, bounded(context), joining);
      case 'call':
        return runAction(step, inputs.get(step) ?? {}, bounded(context), joining);
      case 'live':
        throw new Error('invariant: a subscription has no single answer');
    }
  } catch (error) {
    return Promise.reject(error);
  }
}

function runSelect(step: SelectStep, context: RunContext, joining: JoinValues | undefined): Promise<JsonRow> {
  const source = connectionOf(context, step.source);
  const values = bindAll(step.binders, context.variables, context.session, joining);
  context.onAsked?.();
  const options = readOptions(context, step.source);
  if (context.how.trace === undefined) return runRead(context, source, step.statement, values, options);
  const what = () => ({ source: step.source, verb: 'SELECT', collection: step.collection, statements: 1, text: step.statement.text });
  return tracedStatement(context.how, source, what, () => runRead(context, source, step.statement, values, options));
}

/** @throws SvcError; one with the server's own errors where it answers with errors */
async function runRemote(
  { remote, request, root }: RemoteStep,
  context: BoundedContext,
  joining: JoinValues | undefined,
): Promise<JsonRow> {
  const variables = bindRemote(request, context.variables, context.session);
  context.onAsked?.();
  const { data, errors } = answerParts(await askRemote(context, { remote, document: request.document, variables }));
  if (errors.length > 0 || data === null) {
    throw new SvcError('remote-schema-error', 'Errors from remote server', { path: root.path, graphqlErrors: errors });
  }
  const answer = new RemoteAnswer(joining?.holeName ?? '', context.joinBounds);
  const { fields, namespace } = root.root;
  const path = at(ROOT, 'data');
  if (namespace) return [await inSlices(answer.object(fields, data, path))];
  const [only] = fields;
  invariant(only !== undefined && only.kind === 'field', 'a root of a server is one field');
  return [await inSlices(answer.field(only, answerKeyOf(only), data, path))];
}
