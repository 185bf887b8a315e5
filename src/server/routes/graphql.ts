import type { Session } from '../../auth/session.ts';
import { printGraphqlErrors, toSvcError } from '../../errors/encode.ts';
import { SvcError } from '../../errors/svc-error.ts';
import type { SchemaApi } from '../../metadata/schema-api.ts';
import { limitsFor } from '../../pipeline/api-limits.ts';
import { LimitExceeded } from '../../pipeline/limit-exceeded.ts';
import { requestJson } from '../../pipeline/query-observation.ts';
import { documentOf } from '../../pipeline/document-of.ts';
import { decodeRequest, type GraphqlRequest } from '../../pipeline/request.ts';
import type { CacheStatus, CompressedCopies } from '../../pipeline/response-cache.ts';
import type { RequestOptions } from '../../pipeline/request-run.ts';
import { runRequest } from '../../pipeline/run-request.ts';
import { type Body, type Bytes, bytesOfText, type GeneratedBytes, sizeOfBytes } from '../../util/bytes.ts';
import { isJsonArray, type Json } from '../../util/json.ts';
import { decodeMeasuredBody, type MeasuredJson } from '../body.ts';
import { addCookie, type Exchange, type Route, type ServerContext, showsInternal } from '../context.ts';
import { hasRequest, requestOfParameters } from '../graphql-parameters.ts';
import { eventStreamReply, wantsEvents } from '../event-stream.ts';
import { httpCaching, matchesTag, sentNames } from '../http-caching.ts';
import { identify } from '../identify.ts';
import { loggedRequest } from '../logged-query.ts';
import { checkApi, GRAPHQL_ENDPOINTS, type GraphqlEndpoint } from './graphql-endpoints.ts';
import { wantsPage, welcomeReply } from './welcome.ts';
import { graphqlAnswerType, isJsonContent } from '../media-type.ts';
import { readBody } from '../read-body.ts';
import { graphqlErrorReply, JSON_TYPE, type Reply } from '../reply.ts';

const OPEN = bytesOfText('[');
const COMMA = bytesOfText(',');
const CLOSE = bytesOfText(']');
/** Responses to GET depend on headers that caches do not take into account, except for those of `httpCaching`. */
const NOT_CACHED = { 'Cache-Control': 'no-store' };

/** Logs unexpected errors and hides them from the client. */
function asError(thrown: unknown, context: ServerContext): SvcError {
  if (!(thrown instanceof SvcError)) context.observe({ kind: 'unexpected', message: 'GraphQL request failed', error: thrown });
  return toSvcError(thrown);
}

/** One exchange at an endpoint. */
interface Call {
  readonly api: SchemaApi;
  readonly exchange: Exchange;
  readonly context: ServerContext;
}

/** @throws SvcError parse-failed, bad-request */
function requestOf({ json, depth }: MeasuredJson, session: Session, { api, exchange, context }: Call): GraphqlRequest {
  const { pipeline, state } = context;
  const request = documentOf(decodeRequest(json, depth, api), { pipeline, snapshot: state.current(), session });
  exchange.operationName = request.operationName;
  const { queryLogging } = context.options;
  if (queryLogging.enabled) exchange.loggedQueries.push(loggedRequest(requestJson(request), queryLogging));
  return request;
}

/** Options that depend on how the operation is answered. */
type Answering = Pick<RequestOptions, 'budget' | 'resultBudget' | 'onCacheStatus' | 'onCopies'>;

/** One literal, because spreading gives the objects of each request their own hidden class, which all later property accesses pay for. */
function optionsOf({ exchange, context }: Call, { budget, resultBudget, onCacheStatus, onCopies }: Answering): RequestOptions {
  const { requestTimeout } = context.options;
  return {
    signal: exchange.signal,
    reservation: exchange.reservation,
    requestId: exchange.requestId,
    deadline: requestTimeout === 0 ? undefined : Date.now() + requestTimeout,
    queriesOnly: exchange.request.method === 'GET',
    address: exchange.address,
    trace: exchange.trace ?? undefined,
    headers: exchange.request.headers,
    onCookie: (cookie) => addCookie(exchange, cookie),
    budget,
    resultBudget,
    onCacheStatus,
    onCopies,
  };
}

function runOne(request: GraphqlRequest, session: Session, call: Call, answering: Answering): Promise<Body> {
  const { pipeline, state } = call.context;
  return runRequest({ pipeline, snapshot: state.current(), session, request, options: optionsOf(call, answering) });
}

/** Runs a request that is not part of a batch. */
async function answerOne(measured: MeasuredJson, session: Session, call: Call, contentType: string): Promise<Reply> {
  const request = requestOf(measured, session, call);
  const isGet = call.exchange.request.method === 'GET';
  const found: { status: CacheStatus | null; copies: CompressedCopies | null } = { status: null, copies: null };
  const onCacheStatus = (noted: CacheStatus): void => {
    found.status = noted;
    found.copies = noted.copies;
  };
  const onCopies = (kept: CompressedCopies): void => {
    found.copies = kept;
  };
  const body = await runOne(request, session, call, { onCacheStatus, onCopies });
  const { status, copies } = found;
  const reply: Reply = { status: 200, contentType, body, ...(copies === null ? {} : { copies }) };
  return withCacheHeaders(reply, status, isGet, request, call);
}

function withCacheHeaders(
  reply: Reply,
  status: CacheStatus | null,
  isGet: boolean,
  request: GraphqlRequest,
  { exchange, context }: Call,
): Reply {
  if (status === null) return isGet ? { ...reply, headers: NOT_CACHED } : reply;
  const headers = cacheHeaders(status, exchange, context);
  if (!isGet) return { ...reply, headers };
  const caching = httpCaching(status, request, exchange, context);
  if (caching === null) return { ...reply, headers: { ...headers, ...NOT_CACHED } };
  const whole: Reply = { ...reply, headers: { ...headers, ...caching.headers }, isPublic: caching.isPublic };
  if (!matchesTag(exchange.request.headers['if-none-match'], caching.headers.ETag)) return whole;
  context.pipeline.documentCounts.notModified += 1;
  return { ...whole, status: 304, body: [] };
}

/** Returns the headers of a cached response. It is private, because the URL does not identify the client. */
function cacheHeaders(
  { key, family, left, warning }: CacheStatus,
  exchange: Exchange,
  { authenticator }: ServerContext,
): Record<string, string> {
  return {
    Vary: authenticator.identityHeaders(sentNames(exchange)).join(', '),
    'X-Svc-Query-Cache-Key': key,
    'X-Svc-Query-Family-Cache-Key': family,
    'Cache-Control': left === null ? 'no-store' : `private, max-age=${Math.max(0, Math.ceil(left))}`,
    ...(warning === null ? {} : { Warning: `199 - ${warning}` }),
  };
}

/** @throws SvcError if the request is not a single operation, or there are too many streams */
function openStream(measured: MeasuredJson, session: Session, call: Call): Reply {
  if (isJsonArray(measured.json)) {
    throw new SvcError('not-supported', 'an event stream is for one operation, not for a batch', {
      status: 400,
      keepsStatus: true,
    });
  }
  const request = requestOf(measured, session, call);
  const { exchange, context } = call;
  return eventStreamReply({ context, ...exchange.connections }, session, request, { ...optionsOf(call, {}), onCookie: undefined });
}

async function runBatch(items: readonly Json[], depth: number, session: Session, call: Call): Promise<Body> {
  const { exchange, context } = call;
  const ofRole = limitsFor(context.state.current().cache.apiLimits, session)?.batch ?? Number.POSITIVE_INFINITY;
  const limit = Math.min(context.options.batchLimit, ofRole);
  if (items.length > limit)
    throw new LimitExceeded('batch', 'bad-request', `batch of ${items.length} operations exceeds the limit of ${limit}`);
  exchange.mode = 'batched';
  const body: (Bytes | GeneratedBytes)[] = [OPEN];
  const budget = context.pipeline.newBudget(exchange.reservation);
  // Sequentially: a later operation of a batch sees the effects of an earlier one.
  for (const [i, item] of items.entries()) {
    if (i > 0) body.push(COMMA);
    const share = budget.share();
    let answered = 0;
    try {
      budget.begin();
      const answer = await runOne(requestOf({ json: item, depth }, session, call), session, call, { budget, resultBudget: share });
      answered = sizeOfBytes(answer);
      for (const piece of answer) body.push(piece);
    } catch (thrown) {
      exchange.failed = true;
      body.push(bytesOfText(printGraphqlErrors(asError(thrown, context), showsInternal(context, session))));
    } finally {
      share.settle(answered);
    }
  }
  body.push(CLOSE);
  return body;
}

/** The JSON of the request, and the session. */
interface Received {
  readonly measured: MeasuredJson;
  readonly session: Session;
}

async function readPost(exchange: Exchange, context: ServerContext): Promise<Received> {
  const { request } = exchange;
  if (!isJsonContent(request.headers['content-type'])) {
    throw new SvcError('bad-request', 'expected a body of the content type application/json', { status: 415, keepsStatus: true });
  }
  const { bodyLimit, jsonSizeLimit } = context.options;
  let received: Promise<MeasuredJson> | undefined;
  // The body is read after authentication, unless the webhook includes the request.
  const receive = (): Promise<MeasuredJson> => {
    received ??= readBody(request, bodyLimit, context.uploads).then((body) => decodeMeasuredBody(body, jsonSizeLimit));
    return received;
  };
  const found = identify(exchange, context, async () => (await receive()).json);
  const session = found instanceof Promise ? await found : found;
  return { session, measured: await receive() };
}

async function readGet(exchange: Exchange, context: ServerContext): Promise<Received> {
  const { jsonSizeLimit } = context.options;
  const session = await identify(exchange, context, () => requestOfParameters(exchange.query(), jsonSizeLimit));
  return { session, measured: { json: requestOfParameters(exchange.query(), jsonSizeLimit), depth: Number.POSITIVE_INFINITY } };
}

function graphqlRoute(method: 'GET' | 'POST', { path, api, hasBareErrors }: GraphqlEndpoint): Route {
  const read = method === 'GET' ? readGet : readPost;
  return {
    method,
    path,
    api: 'graphql',
    refuse: (error) => ({ ...graphqlErrorReply(error, false, error.status), ...(method === 'GET' ? { headers: NOT_CACHED } : {}) }),
    async handle(exchange, context): Promise<Reply> {
      const { accept } = exchange.request.headers;
      if (method === 'GET' && wantsPage(accept) && !hasRequest(exchange.query())) return welcomeReply(exchange, context);
      const contentType = graphqlAnswerType(accept);
      const headers = method === 'GET' ? { headers: NOT_CACHED } : {};
      try {
        checkApi(api, context.options);
        const { measured, session } = await read(exchange, context);
        const { json, depth } = measured;
        const call: Call = { api, exchange, context };
        exchange.mode = 'single';
        if (wantsEvents(accept)) return openStream(measured, session, call);
        if (!isJsonArray(json)) return await answerOne(measured, session, call, contentType);
        return { status: 200, contentType, body: await runBatch(json, depth, session, call), ...headers };
      } catch (thrown) {
        const error = asError(thrown, context);
        const keepsStatus =
          hasBareErrors ||
          contentType !== JSON_TYPE ||
          wantsEvents(accept) ||
          error.keepsStatus ||
          (error.status === 401 && context.options.preserve401Errors);
        const reply = graphqlErrorReply(error, showsInternal(context, exchange.session), keepsStatus ? error.status : 200);
        if (error.status === 405) return { ...reply, contentType, headers: { ...NOT_CACHED, Allow: 'POST' } };
        return { ...reply, contentType, ...headers };
      }
    },
  };
}

export const graphqlRoutes: readonly Route[] = GRAPHQL_ENDPOINTS.flatMap((endpoint) => [
  graphqlRoute('POST', endpoint),
  graphqlRoute('GET', endpoint),
]);
