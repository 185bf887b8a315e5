/** Content types of GraphQL requests and answers, as GraphQL over HTTP has them. */
import { preferences } from './accept.ts';
import { JSON_TYPE } from './reply.ts';

/** Answers of this type have the status that the draft gives them; `application/json` has 200 for nearly everything. */
export const GRAPHQL_RESPONSE_TYPE = 'application/graphql-response+json; charset=utf-8';

const GRAPHQL_RESPONSE = 'application/graphql-response+json';

/** Whether a `Content-Type` says JSON in UTF-8. */
export function isJsonContent(header: string | undefined): boolean {
  if (header === 'application/json') return true;
  if (header === undefined) return false;
  const [type, ...parameters] = header.split(';').map((part) => part.trim().toLowerCase());
  if (type !== 'application/json') return false;
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
  return charset === undefined || charset === 'utf-8' || charset === 'utf8' || charset === '"utf-8"';
}

/** The type of the answer: GraphQL's own only for a client that names it and prefers no other that is spoken here. */
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
