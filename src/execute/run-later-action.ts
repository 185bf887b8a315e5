/** Asynchronous actions: a call is written down, and what came of it is told. */
import { forwardedTo } from '../actions/handler-call.ts';
import { isAdmin, type Session } from '../auth/session.ts';
import { invariant, SvcError } from '../errors/svc-error.ts';
import type { ActionEnqueue, ActionResult, ActionResultPart } from '../ir/action.ts';
import type { StoredCall } from '../storage/action-log.ts';
import { bindPart } from '../plan/bind.ts';
import { type JsonObject, parseJson } from '../util/json.ts';
import { AnswerRefused, answerText } from './action-answer.ts';
import type { RunContext } from './run-context.ts';

const UUID = /^\{?[0-9a-f]{4}(?:-?[0-9a-f]{4}){7}\}?$/i;

/** @returns the JSON text of the field. @throws SvcError */
export async function runLater(
  root: ActionEnqueue | ActionResult,
  input: JsonObject,
  { actions, session, headers }: RunContext,
  holeName: string,
): Promise<string> {
  const later = actions?.later;
  invariant(later != null, 'whoever runs plans with asynchronous actions keeps their calls');
  const { name, definition } = root;
  if (root.task === 'enqueue') {
    const { variables: sessionVariables } = session;
    const id = await later.log.write({ action: name, input, headers: forwardedTo(definition, headers), sessionVariables });
    later.wake();
    return JSON.stringify(id);
  }
  const found = await later.log.read(name, idOf(root, input), seenBy(session));
  return found === null ? 'null' : resultText(root.parts, found, holeName);
}

/** Whether the handler has answered, or never will. @throws SvcError */
export async function isCallDone(root: ActionResult, { actions, session, variables }: RunContext): Promise<boolean> {
  const later = actions?.later;
  invariant(later != null, 'whoever runs plans with asynchronous actions keeps their calls');
  const id = bindPart(root.id.value, variables);
  const found = await later.log.read(root.name, idOf(root, id === undefined ? {} : { id }), seenBy(session));
  return found?.isDone === true;
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

function resultText(parts: readonly ActionResultPart[], found: StoredCall, holeName: string): string {
  return `{${parts.map((part) => `${JSON.stringify(part.responseKey)}:${partText(part, found, holeName)}`).join(',')}}`;
}

/** @throws SvcError where the action has changed since and the answer does not fit any more */
function partText(part: ActionResultPart, { id, createdAt, errors, response }: StoredCall, holeName: string): string {
  switch (part.kind) {
    case 'id':
      return JSON.stringify(id);
    case 'created-at':
      return JSON.stringify(createdAt);
    case 'errors':
      return errors ?? 'null';
    case 'typename':
      return JSON.stringify(part.typeName);
    case 'output':
      try {
        return response === null ? 'null' : answerText(parseJson(response), part.answer, holeName);
      } catch (error) {
        throw error instanceof AnswerRefused ? new SvcError('unexpected', error.message, { status: 400 }) : error;
      }
  }
}
