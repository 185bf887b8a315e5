/** Requests to the endpoint for clients of Relay. */
import type { GraphqlOptions, TestService } from '../support/service.ts';
import { type Json, type JsonObject, parseJson, printJson } from '../../src/util/json.ts';

export type Ask = (query: string, options?: GraphqlOptions & { readonly path?: string }) => Promise<JsonObject>;

/** Returns a function that sends requests as admin, or as another role. */
export function askRelay({ send }: Pick<TestService, 'send'>): Ask {
  return async (query, { variables, role, session = {}, path = '/v1/relay' } = {}) => {
    const headers: Record<string, string> = role === undefined ? {} : { 'x-svc-role': role };
    for (const [name, value] of Object.entries(session)) headers[`x-svc-${name}`] = value;
    const body = printJson({ query, ...(variables === undefined ? {} : { variables }) });
    return (await send(path, { method: 'POST', headers, body })).json as JsonObject;
  };
}

/** `path: message` of the first error. */
export function errorOf(answer: JsonObject): string {
  const [error] = (answer['errors'] ?? []) as readonly { message: string; extensions: { path: string; code: string } }[];
  return error === undefined ? 'no error' : `${error.extensions.path}: ${error.message} (${error.extensions.code})`;
}

export function encoded(json: Json): string {
  return Buffer.from(printJson(json)).toString('base64');
}

export function decoded(text: Json): Json {
  return parseJson(Buffer.from(text as string, 'base64').toString());
}
