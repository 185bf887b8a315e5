/** Runs the steps of a plan and splices their results, which are JSON already, into the response. Nothing is parsed but keys of joins. */
import { invariant, SvcError } from '../errors/svc-error.ts';
import { bindAll, bindInput, type JoinValues } from '../plan/bind.ts';
import type { CellPart, Plan, RemoteStep, SelectStep, Step } from '../plan/plan.ts';
import { answerKeyOf, bindRemote } from '../plan/remote-request.ts';
import { type Body, type Bytes, type MadeBytes, sizeOfBytes } from '../util/bytes.ts';
import { CancellationSource } from '../util/cancellation.ts';
import { laidOut } from '../util/json-layout.ts';
import { at, ROOT } from '../util/path.ts';
import { inSlices } from '../util/sliced.ts';
import { DEFAULT_JOIN_BOUNDS, Holes, newHoleName, noJoinUse } from './holes.ts';
import { answerParts, RemoteAnswer } from './remote-answer.ts';
import { askRemote, type BoundedContext, connectionOf, lateCheck, readOptions, type RunContext, runRead } from './run-context.ts';
import { joinAsker } from './run-joins.ts';
import { type ActionInputs, actionInputs, runAction } from './run-action.ts';
import { runMutation } from './run-mutation.ts';
import { tracedStatement } from './traced.ts';
import type { JsonRow } from '../backend/connection.ts';

/** A cell of a result with its place in the response. */
type Cell = readonly Bytes[] | null | undefined;

/**
 * The steps of a query run at the same time, those of a mutation one after another until one fails; then what the
 * answers join from elsewhere.
 * @returns the bytes of the whole response body, `{"data":…}`, in pieces
 * @throws SvcError of the first step that failed
 */
export function runPlan(plan: Plan, context: RunContext): Promise<Body> {
  // Most plans are one statement of one database: nothing of theirs is counted, and nothing runs beside it.
  return isOneStatement(plan) ? runWhole(plan, context) : runParts(plan, context);
}

function isOneStatement({ steps, joins }: Plan): boolean {
  const [step] = steps;
  return joins.length === 0 && steps.length === 1 && (step?.kind === 'select' || step?.kind === 'mutation');
}

async function runParts(plan: Plan, context: RunContext): Promise<Body> {
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

async function runWhole(plan: Plan, context: RunContext): Promise<Body> {
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
  const body: (Bytes | MadeBytes)[] = [];
  const goOn = lateCheck(context, plan.kind === 'mutation');
  const count = printCounter(rows, plan, context);
  /** Texts of cells that layouts are printed from, of which several may be of one. */
  const texts = new Map<Cell, Bytes>();
  const textOf = (part: CellPart): Bytes => {
    const cell = cellOf(rows, part);
    if (cell === null || cell === undefined) return part.absent;
    let text = texts.get(cell);
    if (text === undefined) {
      text = cell.join('') as Bytes;
      texts.set(cell, text);
    }
    return text;
  };
  for (const part of plan.template) {
    if (typeof part === 'string') {
      body.push(part);
      count?.(part.length);
    } else if ('produce' in part) {
      for (const piece of await part.produce()) {
        body.push(piece);
        count?.(piece.length);
      }
    } else if ('layout' in part) {
      const { layout, of } = part;
      const text =
        of.length === 1 && typeof of[0] === 'object'
          ? textOf(of[0])
          : (of.map((each) => (typeof each === 'string' ? each : textOf(each))).join('') as Bytes);
      body.push(await inSlices(laidOut(text, layout, count ?? NOT_COUNTED), goOn));
    } else {
      const cell = cellOf(rows, part) ?? [part.absent];
      for (const chunk of cell) body.push(chunk);
      count?.(sizeOfBytes(cell));
    }
  }
  return body;
}

function cellOf(rows: readonly JsonRow[], { step, column }: CellPart): Cell {
  return rows[step]?.[column];
}

/** Whether a value of a database stands in several places, or under other names than those that it was read with. */
function repeatsCells({ template, steps }: Plan): boolean {
  let cells = 0;
  for (const part of template) {
    if (typeof part === 'string') continue;
    if ('layout' in part) return true;
    if ('column' in part) cells += 1;
  }
  let columns = 0;
  for (const step of steps) columns += step.kind === 'select' ? step.statement.columns : cells;
  return cells > columns;
}

const NOT_COUNTED = (): void => undefined;

/**
 * Returns a function that counts the printed bytes of an answer with copies of values that were read once, and throws once there are
 * more than the request may have; `null` if the answer has no copies, or its bytes are not counted.
 */
function printCounter(rows: readonly JsonRow[], plan: Plan, { intake }: RunContext): ((bytes: number) => void) | null {
  if (intake === undefined || !repeatsCells(plan)) return null;
  /** Bytes that were counted when they were read, and are not printed yet. */
  let read = 0;
  for (const row of rows) for (const cell of row) read += cell === null ? 0 : sizeOfBytes(cell);
  return (bytes) => {
    read -= bytes;
    if (read >= 0) return;
    if (!intake.print(-read)) throw intake.refusal(plan.kind === 'mutation');
    read = 0;
  };
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
