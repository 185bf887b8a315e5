import type { Route } from '../context.ts';
import { jsonReply, textReply } from '../reply.ts';

function healthRoute(path: string): Route {
  return {
    method: 'GET',
    path,
    isProbe: true,
    isPublic: true,
    async handle(exchange, context) {
      if (context.isReady?.() === false) return textReply(503, 'STARTING');
      if (!(await context.state.isAlive())) return textReply(500, 'ERROR');
      // Conflicts of inherited roles are informational: they do not make the schema inconsistent.
      if (context.state.current().cache.inconsistencies.length === 0) return textReply(200, 'OK');
      return exchange.query().get('strict') === 'true'
        ? textReply(500, 'ERROR: inconsistent objects in schema')
        : textReply(200, 'WARN: inconsistent objects in schema');
    },
  };
}

export const healthRoutes: readonly Route[] = [
  healthRoute('/healthz'),
  healthRoute('/svc/healthz'),
  {
    method: 'GET',
    path: '/v1/version',
    isProbe: true,
    isPublic: true,
    handle: (_exchange, context) => Promise.resolve(jsonReply(200, { version: context.options.version, server_type: 'ce' })),
  },
];
