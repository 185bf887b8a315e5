import type { Session } from '../../auth/session.ts';
import { printGraphqlErrors, toSvcError } from '../../errors/encode.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { decodeRequest } from '../../graphql/request.ts';
import { runRequest } from '../../graphql/run-request.ts';
import { isJsonArray, type Json } from '../../util/json.ts';
import { decodeJsonBody, readBody } from '../body.ts';
import { type Exchange, type Route, type ServerContext, showsInternal } from '../context.ts';
import { graphqlErrorReply, JSON_TYPE, type Reply } from '../reply.ts';

const OPEN = Buffer.from('[');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from(']');

/** Reports what was not meant to happen, and hides it from the client. */
function asError(thrown: unknown, context: ServerContext): SvcError {
  if (!(thrown instanceof SvcError)) context.observe({ kind: 'unexpected', message: 'GraphQL request failed', error: thrown });
  return toSvcError(thrown);
}

function runOne(json: Json, session: Session, exchange: Exchange, context: ServerContext): Promise<readonly Buffer[]> {
  const request = decodeRequest(json);
  exchange.operationName = request.operationName;
  const deadline = Date.now() + context.options.requestTimeout;
  return runRequest(context.pipeline, context.state.current(), session, request, { signal: exchange.signal, deadline });
}

async function runBatch(items: readonly Json[], session: Session, exchange: Exchange, context: ServerContext): Promise<readonly Buffer[]> {
  if (items.length > context.options.batchLimit) {
    throw new SvcError('bad-request', `batch of ${items.length} operations is over the limit of ${context.options.batchLimit}`);
  }
  exchange.mode = 'batched';
  const body: Buffer[] = [OPEN];
  // One after the other: a later operation of a batch sees the effects of an earlier one.
  for (const [i, item] of items.entries()) {
    if (i > 0) body.push(COMMA);
    try {
      body.push(...(await runOne(item, session, exchange, context)));
    } catch (thrown) {
      body.push(Buffer.from(printGraphqlErrors(asError(thrown, context), showsInternal(context, session))));
    }
  }
  body.push(CLOSE);
  return body;
}

/** @param keepStatus whether errors keep their own HTTP status instead of 200 */
function graphqlRoute(path: string, keepStatus: boolean): Route {
  return {
    method: 'POST',
    path,
    api: 'graphql',
    async handle(exchange, context): Promise<Reply> {
      try {
        const body = await readBody(exchange.request, context.options.bodyLimit);
        const session = context.authenticator.authenticate(exchange.request.headers);
        exchange.session = session;
        exchange.mode = 'single';
        const json = decodeJsonBody(body);
        const answer = isJsonArray(json) ? await runBatch(json, session, exchange, context) : await runOne(json, session, exchange, context);
        return { status: 200, contentType: JSON_TYPE, body: answer };
      } catch (thrown) {
        const error = asError(thrown, context);
        const kept = keepStatus || error.status === 413 || (error.status === 401 && context.options.preserve401Errors);
        return graphqlErrorReply(error, showsInternal(context, exchange.session), kept ? error.status : 200);
      }
    },
  };
}

export const graphqlRoutes: readonly Route[] = [graphqlRoute('/v1/graphql', false), graphqlRoute('/v1alpha1/graphql', true)];
