import { type JsonObject, printJson } from '../util/json.ts';
import type { QueryObservation } from './observation.ts';

/** Prints the log entry of a query as one line of JSON; numbers in it are as the client wrote them. */
export function queryLogLine(
  { requestId, query, statements, remoteRequests, isCached, trace }: QueryObservation,
  timestamp: string,
): string {
  const detail: JsonObject = {
    request_id: requestId,
    query,
    kind:
      isCached === true ? 'cached' : statements !== null ? 'database' : remoteRequests === undefined ? 'introspection' : 'remote-schema',
    generated_sql:
      statements === null
        ? null
        : Object.fromEntries([...statements].map(([key, { text, values }]) => [key, { query: text, prepared_arguments: values }])),
    ...(remoteRequests === undefined
      ? {}
      : {
          remote_requests: Object.fromEntries(
            [...remoteRequests].map(([key, { remoteSchema, document }]) => [key, { remote_schema: remoteSchema, query: document }]),
          ),
        }),
  };
  const ids: JsonObject = trace === undefined ? {} : { trace_id: trace.traceId, span_id: trace.spanId };
  return `${printJson({ level: 'info', timestamp, type: 'query-log', detail, ...ids })}\n`;
}
