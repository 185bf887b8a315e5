import { decodeExplain, explain } from '../../pipeline/explain.ts';
import { adminRoute } from '../admin-route.ts';
import { decodeJsonBody } from '../body.ts';
import type { Route } from '../context.ts';
import { checkApi } from './graphql-endpoints.ts';
import { readBody } from '../read-body.ts';
import { jsonReply } from '../reply.ts';

function explainRoute(path: string): Route {
  return adminRoute({
    method: 'POST',
    path,
    api: 'metadata',
    async handle(exchange, { options, pipeline, state, uploads }) {
      const body = await readBody(exchange.request, options.bodyLimit, uploads);
      const request = decodeExplain(decodeJsonBody(body, options.jsonSizeLimit));
      checkApi(request.api, options);
      const { requestTimeout } = options;
      const answer = await explain(pipeline, state.current(), request, {
        signal: exchange.signal,
        ...(requestTimeout === 0 ? {} : { deadline: Date.now() + requestTimeout }),
      });
      return jsonReply(200, answer);
    },
  });
}

/** Returns the statements of a GraphQL request and the plans that the databases have for them. */
export const explainRoutes: readonly Route[] = [explainRoute('/v1/graphql/explain'), explainRoute('/v1alpha1/graphql/explain')];
