/** What is said with a request to a GraphQL server besides its body. */

const USER_AGENT = 'svc-graphql';

/** Those that every request has. */
export function defaultHeaders(): Record<string, string> {
  return { 'content-type': 'application/json', accept: 'application/json, application/graphql-response+json', 'user-agent': USER_AGENT };
}
