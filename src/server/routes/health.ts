import { isAdmin } from '../../auth/session.ts';
import { toSvcError } from '../../errors/encode.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { type Exchange, type Route, type ServerContext, showsInternal } from '../context.ts';
import { identify } from '../identify.ts';
import { adminErrorReply, jsonReply, type Reply, textReply } from '../reply.ts';

function healthRoute(path: string): Route {
  return {
    method: 'GET',
    path,
    isProbe: true,
    isPublic: true,
    async handle(exchange, context) {
      if (context.isReady?.() === false) return textReply(503, 'STARTING');
      if (!(await context.state.isAlive())) return textReply(500, 'ERROR');
      // Every record counts, also conflicts of inherited roles, which refuse no change.
      if (context.state.current().cache.inconsistencies.length === 0) return textReply(200, 'OK');
      return exchange.query().get('strict') === 'true'
        ? textReply(500, 'ERROR: inconsistent objects in schema')
        : textReply(200, 'WARN: inconsistent objects in schema');
    },
  };
}

/**
 * Returns the reason why load balancers should send no requests, `null` if ready. Databases do not count: their outage would take all
 * instances out of service at once.
 */
function unreadiness({ connections }: Exchange, context: ServerContext): 'STOPPING' | 'STARTING' | null {
  if (connections.isDraining()) return 'STOPPING';
  return context.isReady?.() === false ? 'STARTING' : null;
}

async function readiness(exchange: Exchange, context: ServerContext): Promise<Reply> {
  const reason = unreadiness(exchange, context);
  const status = reason === null ? 200 : 503;
  if (!exchange.query().has('verbose')) return textReply(status, reason ?? 'OK');
  try {
    if (!isAdmin(await identify(exchange, context, null))) {
      throw new SvcError('access-denied', 'You have to be an admin to see the details of readiness', { status: 403 });
    }
  } catch (thrown) {
    return adminErrorReply(toSvcError(thrown), showsInternal(context, exchange.session));
  }
  const { resourceVersion, cache, connections, metadata } = context.state.current();
  const sources = [...metadata.sources.keys()].map((name) => [name, connections.has(name) ? 'open' : 'unavailable'] as const);
  return jsonReply(status, {
    ready: reason === null,
    reason,
    resource_version: resourceVersion,
    inconsistent_objects: cache.inconsistencies.length,
    metadata_database: (await context.state.isAlive()) ? 'answers' : 'away',
    sources: Object.fromEntries(sources),
  });
}

export const healthRoutes: readonly Route[] = [
  healthRoute('/healthz'),
  healthRoute('/svc/healthz'),
  {
    method: 'GET',
    path: '/livez',
    isProbe: true,
    isPublic: true,
    handle: () => Promise.resolve(textReply(200, 'OK')),
  },
  { method: 'GET', path: '/readyz', isProbe: true, isPublic: true, handle: readiness },
  {
    method: 'GET',
    path: '/v1/version',
    isPublic: true,
    handle: (_exchange, context) => Promise.resolve(jsonReply(200, { version: context.options.version, server_type: 'ce' })),
  },
];
