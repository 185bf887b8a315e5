/** Content types of GraphQL requests and responses, as defined by GraphQL over HTTP. */
import { preferences } from './accept.ts';
import { JSON_TYPE } from './reply.ts';

/** Responses of this type have the status codes of the draft; `application/json` responses have 200 for nearly everything. */
export const GRAPHQL_RESPONSE_TYPE = 'application/graphql-response+json; charset=utf-8';

const GRAPHQL_RESPONSE = 'application/graphql-response+json';

/** Returns true if the `Content-Type` is JSON in UTF-8. */
export function isJsonContent(header: string | undefined): boolean {
  if (header === 'application/json') return true;
  if (header === undefined) return false;
  const [type, ...parameters] = header.split(';').map((part) => part.trim().toLowerCase());
  if (type !== 'application/json') return false;
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
  return charset === undefined || charset === 'utf-8' || charset === 'utf8' || charset === '"utf-8"';
}

/** Returns the response's type: GraphQL's own only if the client lists it and does not prefer plain JSON. */
export function graphqlAnswerType(accept: string | undefined): string {
  if (accept === undefined || !accept.toLowerCase().includes(GRAPHQL_RESPONSE)) return JSON_TYPE;
  let best = JSON_TYPE;
  let weight = 0;
  for (const item of preferences(accept)) {
    if (item.weight <= weight) continue;
    if (item.name === GRAPHQL_RESPONSE) best = GRAPHQL_RESPONSE_TYPE;
    else if (item.name === 'application/json' || item.name === '*/*' || item.name === 'application/*') best = JSON_TYPE;
    else continue;
    weight = item.weight;
  }
  return best;
}
