/** GraphQL requests as a persona. */
import { isList, isObject, type Json, type JsonObject, parseJsonText } from '../model/json.ts';
import type { Persona } from '../model/persona.ts';
import { type RequestHeaders, requestHeaders } from '../model/request-headers.ts';
import { Failure, failureOfResponse } from './failure.ts';
import { type HttpResponse, send } from './http.ts';
import { isReadOnly, READ_ONLY_REASON } from './settings.ts';
import { mustWait, presentSession, signedIn } from './session.ts';

/** Paths of the GraphQL endpoints. */
export type GraphqlEndpoint = 'v1/graphql' | 'v1/relay';

export interface GraphqlRequest {
  readonly query: string;
  readonly variables?: JsonObject;
  readonly operationName?: string;
}

export interface GraphqlResponse extends HttpResponse {
  readonly json: Json | undefined;
}

/** Sends a request for pages that show the response. @throws Failure if the service cannot be reached */
export async function sendGraphql(
  request: GraphqlRequest,
  { headers, hasSecret }: RequestHeaders,
  signal?: AbortSignal,
  endpoint: GraphqlEndpoint = 'v1/graphql',
): Promise<GraphqlResponse> {
  if (isReadOnly && /\bmutation\b/.test(request.query)) throw new Failure(READ_ONLY_REASON, { code: 'read-only' });
  const { query, variables, operationName } = request;
  const body: JsonObject = {
    query,
    ...(variables === undefined ? {} : { variables }),
    ...(operationName === undefined ? {} : { operationName }),
  };
  for (;;) {
    if (mustWait()) await signedIn(presentSession(), signal);
    const session = presentSession();
    const response = await send(endpoint, { body, signal, headers, withoutSecret: !hasSecret });
    if (response.status === 401 && hasSecret) {
      await signedIn(session, signal);
      continue;
    }
    let json: Json | undefined;
    try {
      json = parseJsonText(response.text);
    } catch {
      json = undefined;
    }
    return { ...response, json };
  }
}

/** Returns the data of a response. @throws Failure with the first error */
export async function graphql(
  request: GraphqlRequest,
  persona: Persona & { readonly endpoint?: GraphqlEndpoint },
  signal?: AbortSignal,
): Promise<JsonObject> {
  const response = await sendGraphql(request, requestHeaders(persona), signal, persona.endpoint);
  if (!isObject(response.json) || (isList(response.json['errors']) && response.json['errors'].length > 0)) {
    throw failureOfResponse(response.status, response.text);
  }
  return isObject(response.json['data']) ? response.json['data'] : {};
}
