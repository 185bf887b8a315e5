import { toSvcError } from '../errors/encode.ts';
import { SvcError } from '../errors/svc-error.ts';
import { type Route, showsInternal } from './context.ts';
import { identifyAdmin } from './identify.ts';
import { adminErrorReply } from './reply.ts';

/** Restricts a route to administrators; errors have the form of the administration. */
export function adminRoute(route: Route): Route {
  return {
    ...route,
    async handle(exchange, context) {
      try {
        await identifyAdmin(exchange, context);
        return await route.handle(exchange, context);
      } catch (thrown) {
        if (!(thrown instanceof SvcError)) context.observe({ kind: 'unexpected', message: `${route.path} failed`, error: thrown });
        return adminErrorReply(toSvcError(thrown), showsInternal(context, exchange.session));
      }
    },
  };
}
