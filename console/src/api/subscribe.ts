/** Subscriptions over a websocket. The library is loaded with the first one. */
import { base } from '../browser/place.ts';
import { type Json, type JsonObject, numberOf } from '../model/json.ts';
import type { RequestHeaders } from '../model/request-headers.ts';
import { failureOf } from './failure.ts';
import type { GraphqlEndpoint, GraphqlRequest } from './graphql.ts';
import { credentials } from './session.ts';

export interface SubscriptionSink {
  next(response: Json): void;
  failed(message: string): void;
  ended(): void;
}

/** @returns a function that ends the subscription */
export async function subscribe(
  { query, variables, operationName }: GraphqlRequest,
  { headers, hasSecret }: RequestHeaders,
  sink: SubscriptionSink,
  endpoint: GraphqlEndpoint = 'v1/graphql',
): Promise<() => void> {
  const { createClient } = await import('graphql-ws');
  const url = new URL(endpoint, base);
  url.protocol = url.protocol.replace('http', 'ws');
  const client = createClient({
    url: url.href,
    lazy: true,
    retryAttempts: 3,
    connectionParams: { headers: { ...(hasSecret ? credentials() : {}), ...headers } },
    jsonMessageReviver: keepNumber,
  });
  const end = client.subscribe<JsonObject>(
    {
      query,
      ...(variables === undefined ? {} : { variables: variables as Record<string, string> }),
      ...(operationName === undefined ? {} : { operationName }),
    },
    {
      next: (response) => sink.next(response as Json),
      error: (error) => {
        sink.failed(
          Array.isArray(error)
            ? error.map((each: { message: string }) => each.message).join('\n')
            : error instanceof CloseEvent
              ? error.reason || 'The connection was closed.'
              : failureOf(error).message,
        );
      },
      complete: () => sink.ended(),
    },
  );
  return () => {
    end();
    void client.dispose();
  };
}

/** Keeps numbers that a double would change, from the source text that `JSON.parse` passes. */
function keepNumber(_: string, value: Json, context?: { readonly source?: string }): Json {
  const source = context?.source;
  return typeof value === 'number' && source !== undefined ? numberOf(source) : value;
}
