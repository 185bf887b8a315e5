/** GraphQL as a persona. */
import { isList, isObject, type Json, type JsonObject, parseJson } from '../model/json.ts';
import type { Persona } from '../model/persona.ts';
import { type RequestHeaders, requestHeaders } from '../model/request-headers.ts';
import { Failure, failureOfAnswer } from './failure.ts';
import { type Answer, send } from './http.ts';
import { isReadOnly, READ_ONLY_REASON } from './settings.ts';
import { mustWait, signedIn } from './session.ts';

export interface GraphqlRequest {
  readonly query: string;
  readonly variables?: JsonObject;
  readonly operationName?: string;
}

export interface GraphqlAnswer extends Answer {
  readonly json: Json | undefined;
}

/** Sends a request as it is, for pages that show the answer. @throws Failure when the service cannot be reached */
export async function sendGraphql(
  request: GraphqlRequest,
  { headers, hasSecret }: RequestHeaders,
  signal?: AbortSignal,
): Promise<GraphqlAnswer> {
  if (isReadOnly && /\bmutation\b/.test(request.query)) throw new Failure(READ_ONLY_REASON, { code: 'read-only' });
  const { query, variables, operationName } = request;
  const body: JsonObject = {
    query,
    ...(variables === undefined ? {} : { variables }),
    ...(operationName === undefined ? {} : { operationName }),
  };
  for (;;) {
    if (mustWait()) await signedIn(signal);
    const answer = await send('v1/graphql', {
      body,
      signal,
      headers,
      asStranger: !hasSecret,
    });
    if (answer.status === 401 && hasSecret) {
      await signedIn(signal);
      continue;
    }
    let json: Json | undefined;
    try {
      json = parseJson(answer.text);
    } catch {
      json = undefined;
    }
    return { ...answer, json };
  }
}

/** The data of an answer. @throws Failure of the first error, or of what is no answer */
export async function graphql(request: GraphqlRequest, persona: Persona, signal?: AbortSignal): Promise<JsonObject> {
  const answer = await sendGraphql(request, requestHeaders(persona), signal);
  if (!isObject(answer.json) || (isList(answer.json['errors']) && answer.json['errors'].length > 0)) {
    throw failureOfAnswer(answer.status, answer.text);
  }
  return isObject(answer.json['data']) ? answer.json['data'] : {};
}
