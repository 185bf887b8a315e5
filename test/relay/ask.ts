/** Requests to the endpoint for clients of Relay. */
import type { TestService } from '../support/service.ts';
import { type Json, type JsonObject, parseJson, printJson } from '../../src/util/json.ts';

export type Ask = TestService['graphql'];

/** Returns a function that sends requests as admin, or as another role. */
export function askRelay({ graphql }: Pick<TestService, 'graphql'>): Ask {
  return (query, options) => graphql(query, { path: '/v1/relay', ...options });
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
