import { toSvcError } from '../errors/encode.ts';
import { SvcError } from '../errors/svc-error.ts';
import { type Route, showsInternal } from './context.ts';
import { identifyAdmin } from './identify.ts';
import { adminErrorReply } from './reply.ts';

/** The same route for administrators only, its errors in their form. */
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
