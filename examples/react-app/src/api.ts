import { ApolloClient, ApolloLink, CombinedGraphQLErrors, HttpLink, InMemoryCache } from '@apollo/client';
import { ErrorLink } from '@apollo/client/link/error';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { createClient } from 'graphql-ws';

const PATH = '/v1/graphql';
/** Close code of a websocket whose credentials the service rejects. */
const FORBIDDEN = 4403;
const LONGEST_WAIT_MS = 10_000;

/** For visitors, whose requests have the role `anonymous`. */
export const visitor = new ApolloClient({ link: new HttpLink({ uri: PATH }), cache: new InMemoryCache() });

export interface Session {
  readonly name: string;
  /** Belongs to this session alone, so that no data is left for the next one. */
  readonly client: ApolloClient;
  stop(): void;
}

interface SessionEvents {
  /** Called when the service does not accept the token any more. */
  onExpired(): void;
  /** Called when the live connection opens and closes. */
  onLive(isLive: boolean): void;
}

/** Starts a session whose token stays in memory: other pages and the next visit cannot read it. */
export function startSession(name: string, token: string, { onExpired, onLive }: SessionEvents): Session {
  const headers = { Authorization: `Bearer ${token}` };
  let hasStopped = false;

  const socket = createClient({
    url: PATH,
    connectionParams: { headers },
    retryAttempts: Number.POSITIVE_INFINITY,
    shouldRetry: (event) => !isForbidden(event),
    retryWait: (tries) => new Promise((resolve) => setTimeout(resolve, Math.min(500 * 2 ** tries, LONGEST_WAIT_MS))),
    on: {
      connected: () => onLive(true),
      closed: (event) => {
        if (hasStopped) return;
        onLive(false);
        if (isForbidden(event)) onExpired();
      },
    },
  });

  const expiry = new ErrorLink(({ error }) => {
    if (hasStopped || !CombinedGraphQLErrors.is(error)) return;
    if (error.errors.some(({ extensions }) => extensions?.['code'] === 'invalid-jwt')) onExpired();
  });

  const client = new ApolloClient({
    link: ApolloLink.split(
      ({ operationType }) => operationType === 'subscription',
      new GraphQLWsLink(socket),
      ApolloLink.from([expiry, new HttpLink({ uri: PATH, headers })]),
    ),
    cache: new InMemoryCache(),
  });

  return {
    name,
    client,
    stop() {
      hasStopped = true;
      onLive(false);
      client.stop();
      void socket.dispose();
    },
  };
}

function isForbidden(event: unknown): boolean {
  return event instanceof CloseEvent && event.code === FORBIDDEN;
}

/** Returns the text of an error that a person can read. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
