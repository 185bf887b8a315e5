/** Runs the step of an action. */
import { invariant } from '../errors/svc-error.ts';
import type { ActionArgument } from '../ir/action.ts';
import { bindPart, type JoinValues } from '../plan/bind.ts';
import type { CallStep, PlanStep } from '../plan/plan.ts';
import type { Variables } from '../graphql-engine/constraint.ts';
import type { Json, JsonObject } from '../util/json.ts';
import { runCooperatively } from '../util/cooperative.ts';
import { runAsynchronousAction } from './run-asynchronous-action.ts';
import { InvalidAnswer, checkAnswer, writeActionAnswer } from './action-answer.ts';
import { AnswerText } from './answer-text.ts';
import type { BoundedContext, RunContext } from './run-context.ts';
import type { JsonRow } from '../backend/connection.ts';

/** Input of the handler for each step. */
export type ActionInputs = ReadonlyMap<PlanStep, JsonObject>;

const NO_INPUTS: ActionInputs = new Map();

/** Validates all inputs before the first step runs, so that an invalid one changes nothing. @throws SvcError */
export function actionInputs(steps: readonly PlanStep[], { variables }: RunContext): ActionInputs {
  if (!steps.some(({ kind }) => kind === 'call')) return NO_INPUTS;
  const inputs = new Map<PlanStep, JsonObject>();
  for (const step of steps) {
    if (step.kind !== 'call') continue;
    const { root } = step.root;
    inputs.set(step, inputOf(root.task === 'result' ? [root.id] : root.arguments, variables));
  }
  return inputs;
}

/** @throws SvcError of the handler, or for an invalid response */
export async function runAction(
  { root: { root } }: CallStep,
  input: JsonObject,
  context: BoundedContext,
  joining: JoinValues | undefined,
): Promise<JsonRow> {
  const { actions, session, headers, options, onCookie } = context;
  invariant(actions !== undefined, 'a plan with actions has access to their handlers');
  if (root.task !== 'call') return [await runAsynchronousAction(root, input, context, joining?.placeholderName ?? '')];
  const { name, definition, answer } = root;
  const reply = await actions.call(
    { name, definition, input, sessionVariables: session.variables, query: actions.query, headers, options },
    actions.usage,
  );
  const text = new AnswerText(context.joinBounds);
  try {
    checkAnswer(reply.body, answer);
    await runCooperatively(writeActionAnswer(reply.body, answer, { text, placeholderName: joining?.placeholderName ?? '' }));
  } catch (error) {
    throw error instanceof InvalidAnswer ? reply.refused(error.message) : error;
  }
  if (definition.kind === 'synchronous' && onCookie !== undefined) for (const cookie of reply.cookies) onCookie(cookie);
  return [text.take()];
}

/** Returns the arguments that the client has set. @throws SvcError for an invalid value */
function inputOf(args: readonly ActionArgument[], variables: Variables): JsonObject {
  const entries = args.flatMap(({ name, value, check }): readonly (readonly [string, Json])[] => {
    const json = bindPart(value, variables);
    return json === undefined ? [] : [[name, check(json)]];
  });
  return Object.fromEntries(entries);
}
