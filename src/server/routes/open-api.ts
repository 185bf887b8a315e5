import { openApiDocument } from '../../pipeline/rest/open-api.ts';
import { standardForm, VERSION_2 } from '../../pipeline/rest/open-api-form.ts';
import { runCooperatively } from '../../util/cooperative.ts';
import { adminRoute } from '../admin-route.ts';
import { jsonReply } from '../reply.ts';

/** The REST endpoints as an OpenAPI document. */
export const openApiRoute = adminRoute({
  method: 'GET',
  path: '/api/swagger/json',
  async handle(_exchange, { state, options }) {
    const form = options.version2OpenApi ? VERSION_2 : standardForm(options.version);
    return jsonReply(200, await runCooperatively(openApiDocument(state.current().storedOperations, form)));
  },
});
