/** Asynchronous actions: stores calls, and returns their results. */
import { headersForHandler } from '../webhooks/handler-call.ts';
import { isAdmin, type Session } from '../auth/session.ts';
import { invariant, SvcError } from '../errors/svc-error.ts';
import type { ActionEnqueue, ActionResult, ActionResultPart } from '../ir/action.ts';
import type { StoredCall } from '../metadata-store/action-log.ts';
import { bindPart } from '../plan/bind.ts';
import { type Bytes, bytesOfText } from '../util/bytes.ts';
import { type Json, type JsonObject, parseJson } from '../util/json.ts';
import { runCooperatively, type Cooperative } from '../util/cooperative.ts';
import { ResponseCounter } from '../webhooks/response-usage.ts';
import { InvalidAnswer, checkAnswer, type AnswerSink, writeActionAnswer } from './action-answer.ts';
import { AnswerText } from './answer-text.ts';
import type { BoundedContext, RunContext } from './run-context.ts';

const UUID = /^\{?[0-9a-f]{4}(?:-?[0-9a-f]{4}){7}\}?$/i;

/** Returns the JSON text of the field, in pieces. @throws SvcError */
export async function runAsynchronousAction(
  root: ActionEnqueue | ActionResult,
  input: JsonObject,
  { actions, session, headers, joinBounds }: BoundedContext,
  placeholderName: string,
): Promise<readonly Bytes[]> {
  const asynchronous = actions?.asynchronous;
  invariant(actions !== undefined && asynchronous != null, 'a plan with asynchronous actions has access to their calls');
  const { name, definition } = root;
  if (root.task === 'enqueue') {
    const { variables: sessionVariables } = session;
    const id = await asynchronous.log.write({ action: name, input, headers: headersForHandler(definition, headers), sessionVariables });
    asynchronous.wake();
    return [bytesOfText(JSON.stringify(id))];
  }
  const found = await asynchronous.log.read(name, idOf(root, input), visibleTo(session));
  const { maxResponseSize } = asynchronous;
  const counter = new ResponseCounter(actions.usage, maxResponseSize);
  if (!counter.onBytes(Buffer.byteLength(found?.response ?? ''))) {
    const refusal = counter.refusal(false);
    throw refusal ?? new SvcError('unexpected', `the results of actions exceed ${maxResponseSize} bytes`, { status: 400 });
  }
  const text = new AnswerText(joinBounds);
  if (found === null) text.write('null');
  else await runCooperatively(writeResult(root.parts, found, { text, placeholderName }));
  return text.take();
}

/** Returns the state of a call; `null` if it does not exist or the session may not see it. @throws SvcError */
export async function asynchronousCallState(
  root: ActionResult,
  { actions, session, variables }: RunContext,
): Promise<{ readonly id: string; readonly isDone: boolean } | null> {
  const asynchronous = actions?.asynchronous;
  invariant(asynchronous != null, 'a plan with asynchronous actions has access to their calls');
  const id = bindPart(root.id.value, variables);
  return asynchronous.log.state(root.name, idOf(root, id === undefined ? {} : { id }), visibleTo(session));
}

/** Returns the session variables that a visible call must have; `null` for administrators, who see all calls. */
function visibleTo(session: Session): Session['variables'] | null {
  return isAdmin(session) ? null : session.variables;
}

/** @throws SvcError data-exception */
function idOf(root: ActionResult, { id }: JsonObject): string {
  if (typeof id === 'string' && UUID.test(id)) return id;
  const shown = typeof id === 'string' ? id : JSON.stringify(id ?? null);
  throw new SvcError('data-exception', `invalid input syntax for type uuid: "${shown}"`, { path: root.id.at });
}

/** @throws SvcError if the action has changed since and the stored response no longer matches its type */
function* writeResult(parts: readonly ActionResultPart[], found: StoredCall, sink: AnswerSink): Cooperative<void> {
  const { text } = sink;
  let response: Json | undefined;
  for (const [index, part] of parts.entries()) {
    text.write(`${index === 0 ? '{' : ','}${JSON.stringify(part.responseKey)}:`);
    // Parsed once for all selected names.
    if (part.kind === 'output') response ??= found.response === null ? null : parseJson(found.response);
    yield* writePart(part, found, response ?? null, sink);
  }
  text.write(parts.length === 0 ? '{}' : '}');
}

function* writePart(part: ActionResultPart, { id, createdAt, errors }: StoredCall, response: Json, sink: AnswerSink): Cooperative<void> {
  const { text } = sink;
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
        // The response was checked against the type that the action had then.
        if (response !== null) checkAnswer(response, part.answer);
        yield* writeActionAnswer(response, part.answer, sink);
      } catch (error) {
        throw error instanceof InvalidAnswer ? new SvcError('unexpected', error.message, { status: 400 }) : error;
      }
  }
}
