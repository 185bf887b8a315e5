import { adminRoute } from '../admin-route.ts';
import { jsonReply } from '../reply.ts';

/** Tells an administrator's tools what the service can do and how it is secured; with `?options=true` every option as well. */
export const configRoute = adminRoute({
  method: 'GET',
  path: '/v1alpha1/config',
  api: 'config',
  handle(exchange, { configReport, optionsReport }) {
    const wantsOptions = exchange.query().get('options') === 'true';
    return Promise.resolve(jsonReply(200, wantsOptions ? { ...configReport, options: optionsReport } : configReport));
  },
});
