import type { Change } from '../../api/changes.ts';
import { memberPart, sectionPart } from '../../api/entries.ts';
import {
  type ActionSignature,
  mergedTypes,
  namedBy,
  parseActionDocument,
  printActionDocument,
  reachable,
  signatureOf,
  withSignature,
} from '../../model/action-document.ts';
import { type HeaderRow, headerRows, headersOf } from '../../model/header-rows.ts';
import { equalJson, isList, isObject, type Json, type JsonObject } from '../../model/json.ts';
import type { Step } from '../../model/steps.ts';
import { wholeNumberOf } from '../../model/whole-number.ts';
import { definitionOf, actionArgs, setTypes } from './read-actions.ts';

/** Form of an action. */
export interface DefinitionDraft {
  readonly sdl: string;
  readonly handler: string;
  readonly isAsynchronous: boolean;
  readonly timeout: string;
  readonly forward: boolean;
  /** Client headers that are not forwarded, separated by commas. If empty, the default ones. */
  readonly ignored: string;
  /** Environment variable with the signing secret; empty for unsigned calls. */
  readonly secret: string;
  readonly headers: readonly HeaderRow[];
  readonly retries: string;
  readonly interval: string;
  /** Action and types as they were stored when the draft began; `null` for a new action. */
  readonly basis: Json;
}

export const EXAMPLE_SDL = `type Mutation {
  login(username: String!, password: String!): Login!
}

type Login {
  token: String!
}
`;

/** Names of the types that the text of an action contains. */
function shownTypes(action: JsonObject | undefined, types: Json): ReadonlySet<string> {
  return action === undefined ? new Set() : reachable(types, namedBy(action));
}

/** Objects that a draft replaces: the action without its permissions, and its types line by line. */
function basisOf(action: JsonObject | undefined, types: Json): Json {
  if (action === undefined) return null;
  const { permissions: _, ...rest } = action;
  return { ...rest, types: printActionDocument([], types, shownTypes(action, types)).split('\n') };
}

export function definitionDraft(action: JsonObject | undefined, types: Json): DefinitionDraft {
  const definition = definitionOf(action);
  const retries = isObject(definition['retry_conf']) ? definition['retry_conf'] : {};
  return {
    sdl: action === undefined ? '' : printActionDocument([signatureOf(action)], types, shownTypes(action, types)),
    handler: action === undefined ? '' : String(definition['handler'] ?? ''),
    isAsynchronous: definition['kind'] === 'asynchronous',
    timeout: String(definition['timeout'] ?? 30),
    forward: definition['forward_client_headers'] === true,
    ignored: isList(definition['ignored_client_headers']) ? definition['ignored_client_headers'].map(String).join(', ') : '',
    secret: isObject(definition['signature']) ? String(definition['signature']['secret_from_env'] ?? '') : '',
    headers: headerRows(definition['headers']),
    retries: String(retries['num_retries'] ?? 0),
    interval: String(retries['interval_sec'] ?? 10),
    basis: basisOf(action, types),
  };
}

interface AppliedDraft {
  readonly signature: ActionSignature;
  readonly definition: JsonObject;
  /** All custom types with the draft applied. */
  readonly types: JsonObject;
}

/**
 * Applies a draft to the stored action and types.
 * @param action stored action; undefined for a new one
 * @throws DocumentError for invalid SDL, Error for other invalid fields
 */
function applyDraft(draft: DefinitionDraft, action: JsonObject | undefined, types: Json): AppliedDraft {
  const document = parseActionDocument(draft.sdl);
  const [signature, ...others] = document.actions;
  if (signature === undefined) throw new Error('The text has no action. Define one in type Mutation { … } or type Query { … }.');
  if (others.length > 0) throw new Error(`The text must have one action. ${others[0]?.name} is a second one.`);
  if (action !== undefined && signature.name !== action['name'])
    throw new Error(`The action ${String(action['name'])} cannot be renamed. Create a new one and delete this one.`);
  if (draft.isAsynchronous && signature.type === 'query') throw new Error('Only a mutation can be asynchronous.');
  const former = definitionOf(action);
  const retries = isObject(former['retry_conf']) ? former['retry_conf'] : {};
  const count = draft.isAsynchronous ? wholeNumberOf(draft.retries, 'Retries') : 0;
  const { retry_conf: _, headers: _headers, ignored_client_headers: _ignored, signature: signed, ...rest } = former;
  const ignored = draft.ignored
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const headers = headersOf(draft.headers);
  const definition: JsonObject = {
    ...rest,
    handler: draft.handler.trim(),
    kind: draft.isAsynchronous ? 'asynchronous' : 'synchronous',
    timeout: wholeNumberOf(draft.timeout, 'Timeout'),
    forward_client_headers: draft.forward,
    ...(headers.length === 0 ? {} : { headers }),
    ...(ignored.length === 0 ? {} : { ignored_client_headers: ignored }),
    ...(draft.secret.trim() === '' ? {} : { signature: { ...(isObject(signed) ? signed : {}), secret_from_env: draft.secret.trim() } }),
    ...(count === 0
      ? {}
      : { retry_conf: { ...retries, num_retries: count, interval_sec: wholeNumberOf(draft.interval, 'Retry interval') } }),
  };
  return {
    signature,
    definition: withSignature(definition, signature),
    types: mergedTypes(types, shownTypes(action, types), document.types),
  };
}

/**
 * Returns the change that stores a draft, and the name of its action, read from the text.
 * @param action as it was stored when the draft began; undefined for a new one
 * @throws DocumentError for text that cannot be read, Error for any other invalid input
 */
export function definitionChange(
  draft: DefinitionDraft,
  action: JsonObject | undefined,
  types: Json,
): { readonly name: string; readonly change: Change } {
  const isNew = action === undefined;
  const { name } = applyDraft(draft, action, types).signature;
  const change: Change = {
    title: `Action ${name}`,
    parts: [memberPart('actions', name), sectionPart('custom_types')],
    steps: (_, [now = null, stored = null]) => {
      if (isNew && now !== null) throw new Error(`An action ${name} already exists.`);
      if (!isNew && now === null) throw new Error(`The action ${name} no longer exists.`);
      return stepsOf(draft, isObject(now) ? now : undefined, stored);
    },
    draft: {
      before: draft.basis,
      now: (_, [now = null, stored = null]) => basisOf(isObject(now) ? now : undefined, stored),
      after: (_, [now = null, stored = null]) => {
        const current = isObject(now) ? now : undefined;
        const next = applyDraft(draft, current, stored);
        return basisOf({ ...current, name, definition: next.definition }, next.types);
      },
    },
    inverse: ([before = null, stored = null]) => {
      const back: Step[] = isObject(before)
        ? [{ type: 'update_action', args: actionArgs(before) }]
        : [{ type: 'drop_action', args: { name } }];
      return [setTypes(stored), ...back];
    },
  };
  return { name, change };
}

/** New types come before the action that uses them. */
function stepsOf(draft: DefinitionDraft, before: JsonObject | undefined, types: Json): readonly Step[] {
  const applied = applyDraft(draft, before, types);
  const { name, description } = applied.signature;
  const head = actionArgs({ name, definition: applied.definition, ...(description === undefined ? {} : { comment: description }) });
  const next = setTypes(applied.types);
  const isSame = equalJson(next.args, setTypes(types).args);
  return [...(isSame ? [] : [next]), { type: before === undefined ? 'create_action' : 'update_action', args: head }];
}
