import { isAdmin } from '../../auth/session.ts';
import { toSvcError } from '../../errors/encode.ts';
import { SvcError } from '../../errors/svc-error.ts';
import type { Caller } from '../../metadata-api/run.ts';
import { decodeAdministratorsBody, decodeJsonBody } from '../body.ts';
import { type Exchange, type Route, type ServerContext, showsInternal } from '../context.ts';
import { identify } from '../identify.ts';
import { readBody } from '../read-body.ts';
import { loggedOperation } from '../logged-query.ts';
import { adminErrorReply, printedReply } from '../reply.ts';

/** Clients that chose another role by X-Svc-Role get none: other engines answer them with these keys only. */
function remediesFor({ request }: Exchange, { authenticator }: ServerContext): readonly string[] {
  const { text, isTrusted } = authenticator.adminRemedy(request.headers);
  return isTrusted ? [] : [text];
}

function administrationRoute(path: string, handler: keyof ServerContext['handlers']): Route {
  return {
    method: 'POST',
    path,
    api: 'metadata',
    async handle(exchange, context) {
      try {
        const session = await identify(exchange, context, null);
        const body = await readBody(exchange.request, context.options.bodyLimit, context.uploads);
        const json = isAdmin(session) ? await decodeAdministratorsBody(body) : decodeJsonBody(body, context.options.jsonSizeLimit);
        const { queryLogging } = context.options;
        const logged = queryLogging.enabled ? loggedOperation(json, queryLogging) : null;
        if (logged !== null) exchange.loggedQueries.push(logged);
        const { requestTimeout } = context.options;
        const caller: Caller = {
          session,
          method: context.authenticator.method(exchange.request.headers),
          ...(isAdmin(session) ? {} : { remedies: remediesFor(exchange, context) }),
          signal: exchange.signal,
          reservation: exchange.reservation,
          headers: exchange.request.headers,
          address: exchange.address,
          ...(exchange.trace === null ? {} : { trace: exchange.trace }),
          requestId: exchange.requestId,
          isOwn: exchange.isOwn,
          ...(requestTimeout === 0 ? {} : { timeLimit: requestTimeout }),
        };
        return printedReply(200, await context.handlers[handler](json, caller));
      } catch (thrown) {
        if (!(thrown instanceof SvcError)) context.observe({ kind: 'unexpected', message: `${path} failed`, error: thrown });
        return adminErrorReply(toSvcError(thrown), showsInternal(context, exchange.session));
      }
    },
  };
}

export const administrationRoutes: readonly Route[] = [
  administrationRoute('/v1/metadata', 'metadata'),
  administrationRoute('/v1/query', 'queryV1'),
  administrationRoute('/v2/query', 'queryV2'),
];
