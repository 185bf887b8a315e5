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
import { isList, isObject, type Json, type JsonObject } from '../../model/json.ts';
import { wholeNumberOf } from '../../model/whole-number.ts';
import { definitionOf } from './read-actions.ts';

/** An action as its form has it. */
export interface DefinitionDraft {
  readonly sdl: string;
  readonly handler: string;
  readonly isLater: boolean;
  readonly timeout: string;
  readonly forward: boolean;
  /** Of the client's headers, those that are not forwarded, with commas between; empty: the usual ones. */
  readonly ignored: string;
  /** Name of the variable with the secret that calls are signed with; empty: they are not. */
  readonly secret: string;
  readonly headers: readonly HeaderRow[];
  readonly retries: string;
  readonly interval: string;
  /** The action and its types as they were stored when the draft began; null for a new one. */
  readonly basis: Json;
}

export const EXAMPLE_SDL = `type Mutation {
  login(username: String!, password: String!): Login!
}

type Login {
  token: String!
}
`;

/** Names of the types that the text of an action shows. */
export function shownTypes(action: JsonObject | undefined, types: Json): ReadonlySet<string> {
  return action === undefined ? new Set() : reachable(types, namedBy(action));
}

/** The objects that a draft replaces: the action without its permissions, and its types line by line. */
export function basisOf(action: JsonObject | undefined, types: Json): Json {
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
    isLater: definition['kind'] === 'asynchronous',
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

export interface WrittenAction {
  readonly signature: ActionSignature;
  readonly definition: JsonObject;
  /** All custom types, as they are then. */
  readonly types: JsonObject;
}

/**
 * What a draft makes of an action and of the types as they are now.
 * @param action as it is now; undefined for a new one
 * @throws DocumentError, or Error with what is wrong
 */
export function writtenAction(draft: DefinitionDraft, action: JsonObject | undefined, types: Json): WrittenAction {
  const document = parseActionDocument(draft.sdl);
  const [signature, ...others] = document.actions;
  if (signature === undefined) throw new Error('There is no action in the text: type Mutation { … } or type Query { … } has it.');
  if (others.length > 0) throw new Error(`The text is of one action: ${others[0]?.name} is another one.`);
  if (action !== undefined && signature.name !== action['name'])
    throw new Error(`An action keeps its name, which is ${String(action['name'])}. Make another one, and delete this one.`);
  if (draft.isLater && signature.type === 'query') throw new Error('Only a mutation can be answered later.');
  const former = definitionOf(action);
  const retries = isObject(former['retry_conf']) ? former['retry_conf'] : {};
  const count = draft.isLater ? wholeNumberOf(draft.retries, 'How often it is called again') : 0;
  const { retry_conf: _, headers: _headers, ignored_client_headers: _ignored, signature: signed, ...rest } = former;
  const ignored = draft.ignored
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const headers = headersOf(draft.headers);
  const definition: JsonObject = {
    ...rest,
    handler: draft.handler.trim(),
    kind: draft.isLater ? 'asynchronous' : 'synchronous',
    timeout: wholeNumberOf(draft.timeout, 'The time limit'),
    forward_client_headers: draft.forward,
    ...(headers.length === 0 ? {} : { headers }),
    ...(ignored.length === 0 ? {} : { ignored_client_headers: ignored }),
    ...(draft.secret.trim() === '' ? {} : { signature: { ...(isObject(signed) ? signed : {}), secret_from_env: draft.secret.trim() } }),
    ...(count === 0
      ? {}
      : { retry_conf: { ...retries, num_retries: count, interval_sec: wholeNumberOf(draft.interval, 'The time between two calls') } }),
  };
  return {
    signature,
    definition: withSignature(definition, signature),
    types: mergedTypes(types, shownTypes(action, types), document.types),
  };
}
