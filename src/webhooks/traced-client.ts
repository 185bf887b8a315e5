/** The same client; its calls on behalf of a traced request are spans, and tell whoever is called of the trace. */
import type { OutboundClient } from '../http-client/client.ts';
import { OutboundError } from '../http-client/outbound-error.ts';
import { loggedPath } from './logged-call.ts';
import { spanHeaders } from './trace-context.ts';

export function tracedClient(client: OutboundClient): OutboundClient {
  return {
    async send(call) {
      const { trace } = call;
      if (trace === undefined) return client.send(call);
      const span = trace.child(call.method, 'client');
      if (span.isSampled) {
        span.set('http.request.method', call.method).set('svc.call', call.kind ?? 'other');
        const url = URL.canParse(call.url) ? new URL(call.url) : null;
        if (url !== null) {
          const path = call.template === undefined ? url.pathname : loggedPath(url, call.template);
          span.set('url.full', `${url.protocol}//${url.host}${path}`).set('server.address', url.hostname);
          span.set('server.port', Number(url.port || (url.protocol === 'https:' ? 443 : 80)));
        }
      }
      try {
        const answer = await client.send({ ...call, headers: withTrace(call.headers ?? {}, spanHeaders(span)) });
        span.set('http.response.status_code', answer.status);
        if (answer.status >= 400) span.fail(String(answer.status));
        return answer;
      } catch (error) {
        span.fail(error instanceof OutboundError ? error.failure : 'unexpected');
        throw error;
      } finally {
        // Where nothing is sampled it is the request's own.
        if (span !== trace) span.end();
      }
    },
    close: () => client.close(),
  };
}

/** A client's own trace headers that are handed on would name another span. */
function withTrace(headers: Readonly<Record<string, string>>, trace: Readonly<Record<string, string>>): Record<string, string> {
  const others = Object.entries(headers).filter(([name]) => {
    const lower = name.toLowerCase();
    return !(lower === 'traceparent' || lower === 'tracestate' || lower === 'b3' || lower.startsWith('x-b3-'));
  });
  return { ...Object.fromEntries(others), ...trace };
}
