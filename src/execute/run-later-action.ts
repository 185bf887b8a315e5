/** Asynchronous actions: a call is written down, and what came of it is told. */
import { forwardedTo } from '../webhooks/handler-call.ts';
import { isAdmin, type Session } from '../auth/session.ts';
import { invariant, SvcError } from '../errors/svc-error.ts';
import type { ActionEnqueue, ActionResult, ActionResultPart } from '../ir/action.ts';
import type { StoredCall } from '../metadata-store/action-log.ts';
import { bindPart } from '../plan/bind.ts';
import { type Bytes, bytesOfText } from '../util/bytes.ts';
import { type Json, type JsonObject, parseJson } from '../util/json.ts';
import { inSlices, type Sliced } from '../util/sliced.ts';
import { AnswerIntake } from '../webhooks/answer-use.ts';
import { AnswerRefused, checkAnswer, type Writing, writeAnswer } from './action-answer.ts';
import { AnswerText } from './answer-text.ts';
import type { BoundedContext, RunContext } from './run-context.ts';

const UUID = /^\{?[0-9a-f]{4}(?:-?[0-9a-f]{4}){7}\}?$/i;

/** @returns the JSON text of the field, in pieces. @throws SvcError */
export async function runLater(
  root: ActionEnqueue | ActionResult,
  input: JsonObject,
  { actions, session, headers, joinBounds }: BoundedContext,
  holeName: string,
): Promise<readonly Bytes[]> {
  const later = actions?.later;
  invariant(actions !== undefined && later != null, 'whoever runs plans with asynchronous actions keeps their calls');
  const { name, definition } = root;
  if (root.task === 'enqueue') {
    const { variables: sessionVariables } = session;
    const id = await later.log.write({ action: name, input, headers: forwardedTo(definition, headers), sessionVariables });
    later.wake();
    return [bytesOfText(JSON.stringify(id))];
  }
  const found = await later.log.read(name, idOf(root, input), seenBy(session));
  const intake = new AnswerIntake(actions.use, later.maxResponseSize);
  if (!intake.take(Buffer.byteLength(found?.response ?? ''))) {
    const refusal = intake.refusal(false);
    throw refusal ?? new SvcError('unexpected', `the results of actions have more than ${later.maxResponseSize} bytes`, { status: 400 });
  }
  const text = new AnswerText(joinBounds);
  if (found === null) text.write('null');
  else await inSlices(writeResult(root.parts, found, { text, holeName }));
  return text.take();
}

/** What is known of the call that a result is asked of; null: there is none, or none that is seen. @throws SvcError */
export async function callState(
  root: ActionResult,
  { actions, session, variables }: RunContext,
): Promise<{ readonly id: string; readonly isDone: boolean } | null> {
  const later = actions?.later;
  invariant(later != null, 'whoever runs plans with asynchronous actions keeps their calls');
  const id = bindPart(root.id.value, variables);
  return later.log.state(root.name, idOf(root, id === undefined ? {} : { id }), seenBy(session));
}

/** Everybody else sees their own calls. */
function seenBy(session: Session): Session['variables'] | null {
  return isAdmin(session) ? null : session.variables;
}

/** @throws SvcError data-exception */
function idOf(root: ActionResult, { id }: JsonObject): string {
  if (typeof id === 'string' && UUID.test(id)) return id;
  const shown = typeof id === 'string' ? id : JSON.stringify(id ?? null);
  throw new SvcError('data-exception', `invalid input syntax for type uuid: "${shown}"`, { path: root.id.at });
}

/** @throws SvcError where the action has changed since and the answer does not fit any more */
function* writeResult(parts: readonly ActionResultPart[], found: StoredCall, writing: Writing): Sliced<void> {
  const { text } = writing;
  let response: Json | undefined;
  for (const [index, part] of parts.entries()) {
    text.write(`${index === 0 ? '{' : ','}${JSON.stringify(part.responseKey)}:`);
    // What is asked for under several names is parsed once.
    if (part.kind === 'output') response ??= found.response === null ? null : parseJson(found.response);
    yield* writePart(part, found, response ?? null, writing);
  }
  text.write(parts.length === 0 ? '{}' : '}');
}

function* writePart(part: ActionResultPart, { id, createdAt, errors }: StoredCall, response: Json, writing: Writing): Sliced<void> {
  const { text } = writing;
  switch (part.kind) {
    case 'id':
      text.write(JSON.stringify(id));
      return;
    case 'created-at':
      text.write(JSON.stringify(createdAt));
      return;
    case 'errors':
      text.write(errors ?? 'null');
      return;
    case 'typename':
      text.write(JSON.stringify(part.typeName));
      return;
    case 'output':
      try {
        // It was checked against the type that the action had when it came.
        if (response !== null) checkAnswer(response, part.answer);
        yield* writeAnswer(response, part.answer, writing);
      } catch (error) {
        throw error instanceof AnswerRefused ? new SvcError('unexpected', error.message, { status: 400 }) : error;
      }
  }
}
