import { SvcError } from '../../errors/svc-error.ts';
import { toSvcError } from '../../errors/encode.ts';
import { MethodNotAllowed } from '../../pipeline/rest/routing.ts';
import { findEndpoint, hiddenSegments, type RestParameters, runRest } from '../../pipeline/rest/run-rest.ts';
import type { RequestOptions } from '../../pipeline/request-run.ts';
import { MASKED } from '../../observability/masked-variables.ts';
import { REST_METHODS } from '../../metadata/rest-endpoint.ts';
import { decodeJsonBody } from '../body.ts';
import { addCookie, type Exchange, type Route, type ServerContext, showsInternal } from '../context.ts';
import { mayChangeByGet } from '../cross-site.ts';
import { decodeForm, isForm } from '../form.ts';
import { identify } from '../identify.ts';
import { readBody } from '../read-body.ts';
import { adminErrorReply, JSON_TYPE, type Reply } from '../reply.ts';

const PREFIX = '/api/rest/';
const METHODS: ReadonlySet<string> = new Set(REST_METHODS);

/** Returns the route of all REST endpoints, `undefined` for other requests. */
export function restRoute(exchange: Exchange): Omit<Route, 'method' | 'path'> | undefined {
  return exchange.path.startsWith(PREFIX) && METHODS.has(exchange.request.method ?? '') ? route : undefined;
}

const route: Omit<Route, 'method' | 'path'> = {
  async handle(exchange, context): Promise<Reply> {
    try {
      exchange.loggedPath = pathForLog(exchange, context);
      const session = await identify(exchange, context, null);
      exchange.mode = 'single';
      const segments = segmentsOf(exchange.path);
      const endpoint = findEndpoint(context.state.current().storedOperations, exchange.request.method ?? '', segments);
      const parameters = await readParameters(exchange, context);
      const { pipeline, state } = context;
      const options = requestOptions(exchange, context);
      const data = await runRest(endpoint, parameters, { pipeline, snapshot: state.current(), session, options });
      return { status: 200, contentType: JSON_TYPE, body: data };
    } catch (thrown) {
      if (!(thrown instanceof SvcError)) context.observe({ kind: 'unexpected', message: 'REST request failed', error: thrown });
      const error = explained(toSvcError(thrown));
      const reply = adminErrorReply(error, showsInternal(context, exchange.session));
      return error instanceof MethodNotAllowed ? { ...reply, headers: { Allow: error.allowed.join(', ') } } : reply;
    }
  },
};

/** Explains a rejected mutation by GET: the endpoint allows the method, but the credentials do not. */
function explained(error: SvcError): SvcError {
  if (error.code !== 'method-not-allowed' || error instanceof MethodNotAllowed) return error;
  return new SvcError('access-denied', 'the operation of the endpoint is a mutation: with GET, it requires credentials in a header', {
    status: 403,
  });
}

/** Masks hidden variables in the path. Called first, since every request is logged. */
function pathForLog({ path, request }: Exchange, { state, options }: ServerContext): string | null {
  const { maskedVariables } = options.queryLogging;
  if (maskedVariables.size === 0) return null;
  const segments = segmentsOf(path);
  const hidden = hiddenSegments(maskedVariables, state.current().storedOperations, request.method ?? '', segments);
  return PREFIX + segments.map((text, i) => (hidden.has(i) ? MASKED : encodeURIComponent(text))).join('/');
}

function requestOptions(exchange: Exchange, { options }: ServerContext): RequestOptions {
  return {
    signal: exchange.signal,
    reservation: exchange.reservation,
    queriesOnly: exchange.request.method === 'GET' && !mayChangeByGet(exchange.place),
    requestId: exchange.requestId,
    ...(options.requestTimeout === 0 ? {} : { deadline: Date.now() + options.requestTimeout }),
    address: exchange.address,
    ...(exchange.trace === null ? {} : { trace: exchange.trace }),
    headers: exchange.request.headers,
    onCookie: (cookie) => addCookie(exchange, cookie),
  };
}

/** Reads the parameters; values of a form are text, like those of the query string. */
async function readParameters(exchange: Exchange, { options, uploads }: ServerContext): Promise<RestParameters> {
  const { request } = exchange;
  const body = await readBody(request, options.bodyLimit, uploads);
  if (isForm(request.headers['content-type'])) return { query: [...exchange.query(), ...decodeForm(body)], body: null };
  return { query: exchange.query(), body: body.length === 0 ? null : decodeJsonBody(body, options.jsonSizeLimit) };
}

/** @throws SvcError bad-request if the encoding of the path is invalid */
function segmentsOf(path: string): readonly string[] {
  try {
    return path.slice(PREFIX.length).split('/').map(decodeURIComponent);
  } catch {
    throw new SvcError('bad-request', 'the path of the URL has an invalid encoding');
  }
}
