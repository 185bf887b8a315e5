import { printJson } from '../util/json.ts';
import type { HttpObservation } from './observation.ts';

/** Characters; longer URLs are rare. */
const MAX_KEPT = 1_000;
const variableTexts = new WeakMap<ReadonlyMap<string, string>, string>();

/** Session variables as JSON, printed once for each session. */
function variablesText(variables: ReadonlyMap<string, string> | null): string {
  if (variables === null) return 'null';
  let text = variableTexts.get(variables);
  if (text === undefined) {
    text = JSON.stringify(Object.fromEntries(variables));
    variableTexts.set(variables, text);
  }
  return text;
}

type Info = Pick<HttpObservation, 'status' | 'method' | 'ip' | 'url' | 'httpVersion' | 'encoding'>;

/** What was told last, and its text: requests come from few clients and to few URLs. */
let last: { readonly told: Info; readonly text: string } | null = null;

function infoText({ status, method, ip, url, httpVersion, encoding }: Info): string {
  if (
    last !== null &&
    last.told.status === status &&
    last.told.method === method &&
    last.told.ip === ip &&
    last.told.url === url &&
    last.told.httpVersion === httpVersion &&
    last.told.encoding === encoding
  )
    return last.text;
  const text =
    `{"status":${status},"method":${JSON.stringify(method)},"ip":${JSON.stringify(ip)},"url":${JSON.stringify(url)},` +
    `"http_version":${JSON.stringify(httpVersion)},"content_encoding":${JSON.stringify(encoding)}}`;
  if (text.length <= MAX_KEPT) last = { told: { status, method, ip, url, httpVersion, encoding }, text };
  return text;
}

/**
 * The log entry of a request as one line of JSON, with the line's end. It is put together here and not by
 * the logging library: there is one for each request, and that path took several times as long.
 * @param timestamp as all entries have it; it needs no escaping
 */
export function httpLogLine(o: HttpObservation, timestamp: string): string {
  const id = JSON.stringify(o.requestId);
  const name = o.operationName === null ? 'null' : JSON.stringify(o.operationName);
  const operation =
    `{"request_id":${id},"user_vars":${variablesText(o.userVariables)},"request_mode":"${o.mode}",` +
    `"operation_name":${name}${o.query === null ? '' : `,"query":${printJson(o.query)}`},"response_size":${o.responseSize},"query_execution_time":${o.duration}` +
    `${o.error === null ? '' : `,"error":${JSON.stringify(o.error)}`}}`;
  const level = o.error === null ? 'info' : 'error';
  const detail = `{"request_id":${id},"http_info":${infoText(o)},"operation":${operation}}`;
  const trace = o.trace === undefined ? '' : `,"trace_id":"${o.trace.traceId}","span_id":"${o.trace.spanId}"`;
  return `{"level":"${level}","timestamp":"${timestamp}","type":"http-log","detail":${detail}${trace}}\n`;
}
