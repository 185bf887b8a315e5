import type { Change } from '../../api/changes.ts';
import { memberPart } from '../../api/entries.ts';
import { isObject, type Json, type JsonObject } from '../../model/json.ts';
import {
  type BodyDraft,
  bodyDraft,
  responseTransformOf,
  type TransformDraft,
  transformDraft,
  transformOf,
} from '../../model/webhook-transform.ts';
import { definitionOf, actionArgs } from './read-actions.ts';

/** The transforms of an action while they are edited. */
export interface TransformsDraft {
  readonly request: TransformDraft;
  readonly response: BodyDraft;
  /** Transforms as they were stored when the draft began. */
  readonly basis: JsonObject;
}

export function transformsDraft(action: JsonObject): TransformsDraft {
  const definition = definitionOf(action);
  const response = isObject(definition['response_transform']) ? definition['response_transform'] : {};
  return {
    request: transformDraft(definition['request_transform']),
    response: bodyDraft(response['body']),
    basis: storedTransforms(definition),
  };
}

/** The change that stores the transforms of a draft and nothing else of the action. */
export function transformsChange(name: string, draft: TransformsDraft): Change {
  const withTransforms = (action: JsonObject): JsonObject => {
    const { request_transform: _request, response_transform: _response, ...rest } = definitionOf(action);
    const request = transformOf(draft.request);
    const response = responseTransformOf(draft.response);
    return {
      ...rest,
      ...(request === undefined ? {} : { request_transform: request }),
      ...(response === undefined ? {} : { response_transform: response }),
    };
  };
  const transformsIn = (action: Json, definition: (action: JsonObject) => JsonObject): Json =>
    isObject(action) ? storedTransforms(definition(action)) : null;
  return {
    title: `Transforms of ${name}`,
    parts: [memberPart('actions', name)],
    draft: {
      before: draft.basis,
      now: (_, [now = null]) => transformsIn(now, definitionOf),
      after: (_, [now = null]) => transformsIn(now, withTransforms),
    },
    steps: (_, [now = null]) => {
      if (!isObject(now)) throw new Error(`The action ${name} no longer exists.`);
      return [{ type: 'update_action', args: actionArgs({ ...now, definition: withTransforms(now) }) }];
    },
    inverse: ([before = null]) => (isObject(before) ? [{ type: 'update_action', args: actionArgs(before) }] : []),
  };
}

function storedTransforms({ request_transform: request = null, response_transform: response = null }: JsonObject): JsonObject {
  return { request_transform: request, response_transform: response };
}
