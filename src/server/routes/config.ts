import { adminRoute } from '../admin-route.ts';
import { jsonReply } from '../reply.ts';

/** Reports the capabilities and access control of the service to tools of administrators; with `?options=true` all options, too. */
export const configRoute = adminRoute({
  method: 'GET',
  path: '/v1alpha1/config',
  api: 'config',
  handle(exchange, { configReport, optionsReport }) {
    const wantsOptions = exchange.query().get('options') === 'true';
    return Promise.resolve(jsonReply(200, wantsOptions ? { ...configReport, options: optionsReport } : configReport));
  },
});
