/** Wraps a client: its calls on behalf of a traced request are spans and send the trace context. */
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
        const response = await client.send({ ...call, headers: withTrace(call.headers ?? {}, spanHeaders(span)) });
        span.set('http.response.status_code', response.status);
        if (response.status >= 400) span.fail(String(response.status));
        return response;
      } catch (error) {
        span.fail(error instanceof OutboundError ? error.failure : 'unexpected');
        throw error;
      } finally {
        // Without sampling, `child` returns the request's own span.
        if (span !== trace) span.end();
      }
    },
    close: () => client.close(),
  };
}

/** Replaces forwarded trace headers of the client, which name another span. */
function withTrace(headers: Readonly<Record<string, string>>, trace: Readonly<Record<string, string>>): Record<string, string> {
  const others = Object.entries(headers).filter(([name]) => {
    const lower = name.toLowerCase();
    return !(lower === 'traceparent' || lower === 'tracestate' || lower === 'b3' || lower.startsWith('x-b3-'));
  });
  return { ...Object.fromEntries(others), ...trace };
}
