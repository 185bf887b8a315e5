import { SvcError } from '../../errors/svc-error.ts';
import { toSvcError } from '../../errors/encode.ts';
import { MethodNotAllowed } from '../../graphql/rest/routing.ts';
import { hiddenSegments, runRest } from '../../graphql/rest/run-rest.ts';
import { MASKED } from '../../observability/masked-variables.ts';
import { REST_METHODS } from '../../metadata/rest-endpoint.ts';
import { decodeJsonBody, readBody } from '../body.ts';
import { type Exchange, type Route, type ServerContext, showsInternal } from '../context.ts';
import { identify } from '../identify.ts';
import { adminErrorReply, JSON_TYPE, type Reply } from '../reply.ts';

const PREFIX = '/api/rest/';
const METHODS: ReadonlySet<string> = new Set(REST_METHODS);

/** The route of all REST endpoints, or undefined for a request that is not for them. */
export function restRoute(exchange: Exchange): Pick<Route, 'api' | 'handle'> | undefined {
  return exchange.path.startsWith(PREFIX) && METHODS.has(exchange.request.method ?? '') ? route : undefined;
}

const route: Pick<Route, 'api' | 'handle'> = {
  async handle(exchange, context): Promise<Reply> {
    try {
      exchange.loggedPath = pathForLog(exchange, context);
      const body = await readBody(exchange.request, context.options.bodyLimit);
      const session = await identify(exchange, context, null);
      exchange.mode = 'single';
      const data = await runRest(
        context.pipeline,
        context.state.current(),
        session,
        {
          method: exchange.request.method ?? '',
          segments: segmentsOf(exchange.path),
          ...(isForm(exchange)
            ? { query: [...exchange.query(), ...new URLSearchParams(body.toString('utf8'))], body: null }
            : { query: exchange.query(), body: body.length === 0 ? null : decodeJsonBody(body, context.options.jsonSizeLimit) }),
        },
        requestOptions(exchange, context),
      );
      return { status: 200, contentType: JSON_TYPE, body: data };
    } catch (thrown) {
      if (!(thrown instanceof SvcError)) context.observe({ kind: 'unexpected', message: 'REST request failed', error: thrown });
      const error = toSvcError(thrown);
      const reply = adminErrorReply(error, showsInternal(context, exchange.session));
      return error instanceof MethodNotAllowed ? { ...reply, headers: { Allow: error.allowed.join(', ') } } : reply;
    }
  },
};

/** Before anything can fail, for every request is logged. */
function pathForLog({ path, request }: Exchange, { state, options }: ServerContext): string | null {
  const { maskedVariables } = options.queryLogging;
  if (maskedVariables.size === 0) return null;
  const segments = segmentsOf(path);
  const hidden = hiddenSegments(maskedVariables, state.current().storedOperations, request.method ?? '', segments);
  return PREFIX + segments.map((text, i) => (hidden.has(i) ? MASKED : encodeURIComponent(text))).join('/');
}

function requestOptions(exchange: Exchange, { options }: ServerContext) {
  return {
    signal: exchange.signal,
    requestId: exchange.requestId,
    ...(options.requestTimeout === 0 ? {} : { deadline: Date.now() + options.requestTimeout }),
    address: exchange.request.socket.remoteAddress ?? '',
    headers: exchange.request.headers,
  };
}

/** A form says its values as texts, like the query string. */
function isForm(exchange: Exchange): boolean {
  return /^application\/x-www-form-urlencoded\s*(;|$)/i.test(exchange.request.headers['content-type'] ?? '');
}

/** @throws SvcError bad-request when the path is not encoded as a URL's has to be */
function segmentsOf(path: string): readonly string[] {
  try {
    return path.slice(PREFIX.length).split('/').map(decodeURIComponent);
  } catch {
    throw new SvcError('bad-request', 'the path of the URL is not well encoded');
  }
}
