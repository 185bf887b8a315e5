/** Runs the steps of a plan and splices their results, which are JSON already, into the response. Only join keys are parsed. */
import { invariant, SvcError } from '../errors/svc-error.ts';
import { bindAll, bindInput, type JoinValues } from '../plan/bind.ts';
import type { CellPart, OperationPlan, RemoteStep, SelectStep, PlanStep } from '../plan/plan.ts';
import { answerKeyOf, bindRemote } from '../plan/remote-request.ts';
import { type Body, type Bytes, type GeneratedBytes, sizeOfBytes } from '../util/bytes.ts';
import { CancellationSource } from '../util/cancellation.ts';
import { applyLayout } from '../util/json-layout.ts';
import { at, ROOT } from '../util/path.ts';
import { runCooperatively } from '../util/cooperative.ts';
import { DEFAULT_JOIN_BOUNDS, PlaceholderFiller, newPlaceholderName, noJoinUsage } from './placeholders.ts';
import { answerParts, RemoteAnswer } from './remote-answer.ts';
import { callRemoteServer, type BoundedContext, connectionOf, lateCheck, readOptions, type RunContext, runRead } from './run-context.ts';
import { createJoinRunner } from './run-joins.ts';
import { type ActionInputs, actionInputs, runAction } from './run-action.ts';
import { runMutation } from './run-mutation.ts';
import { tracedStatement } from './traced.ts';
import type { JsonRow } from '../backend/connection.ts';

/** One cell of a step's result. */
type Cell = readonly Bytes[] | null | undefined;

/**
 * Runs the steps of a query concurrently, those of a mutation one after another until one fails; then runs the joins.
 * @returns the bytes of the whole response body, `{"data":…}`, in pieces
 * @throws SvcError of the first step that failed
 */
export function runPlan(plan: OperationPlan, context: RunContext): Promise<Body> {
  // Most plans are one statement of one database: they need no running totals, and nothing runs concurrently.
  return isOneStatement(plan) ? runWhole(plan, context) : runParts(plan, context);
}

function isOneStatement({ steps, joins }: OperationPlan): boolean {
  const [step] = steps;
  return joins.length === 0 && steps.length === 1 && (step?.kind === 'select' || step?.kind === 'mutation');
}

async function runParts(plan: OperationPlan, context: RunContext): Promise<Body> {
  const { joinBounds = DEFAULT_JOIN_BOUNDS, options } = context;
  const boundedContext = isBounded(context) ? context : { ...context, joinBounds: { ...joinBounds, usage: noJoinUsage() } };
  if (plan.steps.length <= 1 && plan.joins.length === 0) return runWhole(plan, boundedContext);
  const parts = new CancellationSource(options.signal);
  try {
    return await runWhole(plan, { ...boundedContext, options: { ...options, signal: parts } });
  } catch (error) {
    // Cancels the other parts.
    parts.cancel();
    throw error;
  }
}

function bounded(context: RunContext): BoundedContext {
  invariant(isBounded(context), 'a plan with several parts runs within bounds');
  return context;
}

function isBounded(context: RunContext): context is BoundedContext {
  return context.joinBounds?.usage !== undefined;
}

async function runWhole(plan: OperationPlan, context: RunContext): Promise<Body> {
  const { steps } = plan;
  if (plan.validations.length > 0) await validateInput(plan, context);
  const joining: JoinValues | undefined = plan.joins.length === 0 ? undefined : { placeholderName: newPlaceholderName(), keys: [] };
  const inputs = actionInputs(steps, context);
  const run = (step: PlanStep): Promise<JsonRow> => runStep(step, plan, context, joining, inputs);
  let rows: readonly JsonRow[];
  if (steps.length === 1) rows = [await run(steps[0] as PlanStep)];
  else if (steps.length === 0) rows = [];
  else if (plan.kind === 'mutation') rows = await runInOrder(steps, run);
  else rows = await Promise.all(steps.map(run));
  if (joining !== undefined) rows = await joinRows(rows, plan, context, joining);
  const body: (Bytes | GeneratedBytes)[] = [];
  const count = printCounter(rows, plan, context);
  /** Flattened texts of cells, which several layouts may print from. */
  let texts: Map<Cell, Bytes> | undefined;
  const textOf = (part: CellPart): Bytes => {
    const cell = cellOf(rows, part);
    if (cell === null || cell === undefined) return part.absent;
    texts ??= new Map();
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
      body.push(await runCooperatively(applyLayout(text, layout, count ?? NOT_COUNTED), lateCheck(context, plan.kind === 'mutation')));
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

/** Returns true if the response has a database value in several places, or under other names than those that it was read with. */
function repeatsCells({ template, steps }: OperationPlan): boolean {
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
 * Returns a function that counts the printed bytes of a response that repeats values, and throws once they exceed the result budget;
 * `null` if the response repeats none, or its bytes are not counted.
 */
function printCounter(rows: readonly JsonRow[], plan: OperationPlan, { resultBudget }: RunContext): ((bytes: number) => void) | null {
  if (resultBudget === undefined || !repeatsCells(plan)) return null;
  /** Bytes that were counted when they were read and are not printed yet. */
  let unprinted = 0;
  for (const row of rows) for (const cell of row) unprinted += cell === null ? 0 : sizeOfBytes(cell);
  return (bytes) => {
    unprinted -= bytes;
    if (unprinted >= 0) return;
    if (!resultBudget.print(-unprinted)) throw resultBudget.refusal(plan.kind === 'mutation');
    unprinted = 0;
  };
}

/** Returns the rows with their placeholders filled. */
async function joinRows(
  rows: readonly JsonRow[],
  plan: OperationPlan,
  context: RunContext,
  { placeholderName }: JoinValues,
): Promise<readonly JsonRow[]> {
  const filler = new PlaceholderFiller(
    plan.joins,
    placeholderName,
    createJoinRunner(bounded(context), placeholderName),
    bounded(context).joinBounds,
  );
  const cells = rows.flatMap((row) => row.flatMap((cell) => (cell === null ? [] : [cell.join('') as Bytes])));
  const filled = (await filler.fill(cells))[Symbol.iterator]();
  return rows.map((row) => row.map((cell) => (cell === null ? null : (filled.next().value as readonly Bytes[]))));
}

/** Calls the hooks sequentially; the error is that of the first one that rejects. @throws SvcError; then nothing has been changed */
async function validateInput({ validations }: OperationPlan, context: RunContext): Promise<void> {
  context.onExternalRequest?.();
  const { validateInput: validate, session, variables, options, headers } = context;
  invariant(validate !== undefined, 'a plan with validations has a validator');
  for (const { hook, input } of validations) {
    await validate({ hook, input: bindInput(input, variables), session, options, ...(headers === undefined ? {} : { headers }) });
  }
}

async function runInOrder(steps: readonly PlanStep[], run: (step: PlanStep) => Promise<JsonRow>): Promise<readonly JsonRow[]> {
  const rows: JsonRow[] = [];
  for (const step of steps) rows.push(await run(step));
  return rows;
}

function runStep(
  step: PlanStep,
  plan: OperationPlan,
  context: RunContext,
  joining: JoinValues | undefined,
  inputs: ActionInputs,
): Promise<JsonRow> {
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
  context.onExternalRequest?.();
  const options = readOptions(context, step.source);
  if (context.options.trace === undefined) return runRead(context, source, step.statement, values, options);
  const what = () => ({ source: step.source, verb: 'SELECT', collection: step.collection, statements: 1, text: step.statement.text });
  return tracedStatement(context.options, source, what, () => runRead(context, source, step.statement, values, options));
}

/** @throws SvcError, with the server's own errors if it responds with errors */
async function runRemote(
  { remote, request, root }: RemoteStep,
  context: BoundedContext,
  joining: JoinValues | undefined,
): Promise<JsonRow> {
  const variables = bindRemote(request, context.variables, context.session);
  context.onExternalRequest?.();
  const { data, errors } = answerParts(await callRemoteServer(context, { remote, document: request.document, variables }));
  if (errors.length > 0 || data === null) {
    throw new SvcError('remote-schema-error', 'Errors from remote server', { path: root.path, graphqlErrors: errors });
  }
  const answer = new RemoteAnswer(joining?.placeholderName ?? '', context.joinBounds);
  const { fields, namespace } = root.root;
  const path = at(ROOT, 'data');
  if (namespace) return [await runCooperatively(answer.object(fields, data, path))];
  const [only] = fields;
  invariant(only !== undefined && only.kind === 'field', 'a root of a server is one field');
  return [await runCooperatively(answer.field(only, answerKeyOf(only), data, path))];
}
