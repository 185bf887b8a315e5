import { printJson } from '../util/json.ts';
import type { HttpObservation } from './observation.ts';

/** Maximum length of a cached text, in characters; longer URLs are rare. */
const MAX_CACHED_LENGTH = 1_000;
const variableTexts = new WeakMap<ReadonlyMap<string, string>, string>();

/** Prints session variables as JSON, once per session. */
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

/** The last request and its text: most requests come from few clients and to few URLs. */
let last: { readonly info: Info; readonly text: string } | null = null;

function infoText({ status, method, ip, url, httpVersion, encoding }: Info): string {
  if (
    last !== null &&
    last.info.status === status &&
    last.info.method === method &&
    last.info.ip === ip &&
    last.info.url === url &&
    last.info.httpVersion === httpVersion &&
    last.info.encoding === encoding
  )
    return last.text;
  const text =
    `{"status":${status},"method":${JSON.stringify(method)},"ip":${JSON.stringify(ip)},"url":${JSON.stringify(url)},` +
    `"http_version":${JSON.stringify(httpVersion)},"content_encoding":${JSON.stringify(encoding)}}`;
  if (text.length <= MAX_CACHED_LENGTH) last = { info: { status, method, ip, url, httpVersion, encoding }, text };
  return text;
}

/**
 * Prints the log entry of a request as one line of JSON. The logging library would take several times as long, and there is one entry for
 * each request.
 * @param timestamp needs no escaping
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
