import { adminRoute } from '../admin-route.ts';
import { jsonReply } from '../reply.ts';

/** Tells an administrator's tools what the service can do and how it is secured. */
export const configRoute = adminRoute({
  method: 'GET',
  path: '/v1alpha1/config',
  api: 'config',
  handle: (_exchange, context) => Promise.resolve(jsonReply(200, context.configReport)),
});
