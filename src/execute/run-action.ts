/** Runs the step of an action. */
import { invariant } from '../errors/svc-error.ts';
import type { ActionArgument } from '../ir/action.ts';
import { bindPart, type JoinValues } from '../plan/bind.ts';
import type { CallStep, Step } from '../plan/plan.ts';
import type { Variables } from '../graphql-engine/constraint.ts';
import type { Json, JsonObject } from '../util/json.ts';
import { inSlices } from '../util/sliced.ts';
import { runLater } from './run-later-action.ts';
import { AnswerRefused, checkAnswer, writeAnswer } from './action-answer.ts';
import { AnswerText } from './answer-text.ts';
import type { BoundedContext, RunContext } from './run-context.ts';
import type { JsonRow } from '../backend/connection.ts';

/** What each step gives its handler. */
export type ActionInputs = ReadonlyMap<Step, JsonObject>;

const NO_INPUTS: ActionInputs = new Map();

/** Made before the first step runs, so that what does not fit changes nothing. @throws SvcError */
export function actionInputs(steps: readonly Step[], { variables }: RunContext): ActionInputs {
  if (!steps.some(({ kind }) => kind === 'call')) return NO_INPUTS;
  const inputs = new Map<Step, JsonObject>();
  for (const step of steps) {
    if (step.kind !== 'call') continue;
    const { root } = step.root;
    inputs.set(step, inputOf(root.task === 'result' ? [root.id] : root.arguments, variables));
  }
  return inputs;
}

/** @throws SvcError of the handler, or of its answer */
export async function runAction(
  { root: { root } }: CallStep,
  input: JsonObject,
  context: BoundedContext,
  joining: JoinValues | undefined,
): Promise<JsonRow> {
  const { actions, session, headers, how, onCookie } = context;
  invariant(actions !== undefined, 'whoever runs plans with actions can call them');
  if (root.task !== 'call') return [await runLater(root, input, context, joining?.holeName ?? '')];
  const { name, definition, answer } = root;
  const reply = await actions.call(
    {
      name,
      definition,
      input,
      sessionVariables: session.variables,
      query: actions.query,
      headers,
      how,
    },
    actions.use,
  );
  const text = new AnswerText(context.joinBounds);
  try {
    checkAnswer(reply.body, answer);
    await inSlices(writeAnswer(reply.body, answer, { text, holeName: joining?.holeName ?? '' }));
  } catch (error) {
    throw error instanceof AnswerRefused ? reply.refused(error.message) : error;
  }
  if (definition.kind === 'synchronous' && onCookie !== undefined) for (const cookie of reply.cookies) onCookie(cookie);
  return [text.take()];
}

/** The arguments that the client gave. @throws SvcError for a value that does not fit */
function inputOf(given: readonly ActionArgument[], variables: Variables): JsonObject {
  const entries = given.flatMap(({ name, value, check }): readonly (readonly [string, Json])[] => {
    const json = bindPart(value, variables);
    return json === undefined ? [] : [[name, check(json)]];
  });
  return Object.fromEntries(entries);
}
