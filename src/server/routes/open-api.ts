import { openApiDocument } from '../../graphql/rest/open-api.ts';
import { adminRoute } from '../admin-route.ts';
import { jsonReply } from '../reply.ts';

/** The REST endpoints as an OpenAPI document. */
export const openApiRoute = adminRoute({
  method: 'GET',
  path: '/api/swagger/json',
  handle: (_exchange, context) => Promise.resolve(jsonReply(200, openApiDocument(context.state.current().storedOperations))),
});
