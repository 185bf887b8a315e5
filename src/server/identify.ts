import type { GraphqlPayload, RequestHead } from '../auth/credentials.ts';
import type { Session } from '../auth/session.ts';
import { isAdmin } from '../auth/session.ts';
import { SvcError } from '../errors/svc-error.ts';
import type { Exchange, ServerContext } from './context.ts';

/**
 * Authenticates the client and stores its session and cookies on the exchange. Returns a promise only if the webhook or a token has
 * to be checked.
 * @param graphql the GraphQL request, `null` on other endpoints
 * @throws SvcError synchronously or as a rejection
 */
export function identify(exchange: Exchange, context: ServerContext, graphql: GraphqlPayload | null): Session | Promise<Session> {
  const meter = context.meter.current();
  if (meter === null) return sessionOf(exchange, context, graphql);
  const count = (isAccepted: boolean): void => meter.authenticated(exchange.place, isAccepted);
  try {
    const session = sessionOf(exchange, context, graphql);
    if (!(session instanceof Promise)) count(true);
    else
      session.then(
        () => count(true),
        () => count(false),
      );
    return session;
  } catch (error) {
    count(false);
    throw error;
  }
}

function sessionOf(exchange: Exchange, context: ServerContext, graphql: GraphqlPayload | null): Session | Promise<Session> {
  const found = context.authenticator.authenticate(headOf(exchange), graphql, exchange.signal);
  if (!(found instanceof Promise)) {
    exchange.session = found;
    return found;
  }
  return found.then(({ session, cookies }) => {
    exchange.session = session;
    exchange.cookies = cookies;
    return session;
  });
}

function headOf({ request, trace }: Exchange): RequestHead {
  return trace === null ? request : { headers: request.headers, rawHeaders: request.rawHeaders, trace };
}

/** @throws SvcError access-denied if the client is not an administrator */
export async function identifyAdmin(exchange: Exchange, context: ServerContext): Promise<Session> {
  const session = await identify(exchange, context, null);
  if (!isAdmin(session)) {
    const { text } = context.authenticator.adminRemedy(exchange.request.headers);
    throw new SvcError('access-denied', 'You have to be an admin to access this endpoint', { remedies: [text] });
  }
  return session;
}
