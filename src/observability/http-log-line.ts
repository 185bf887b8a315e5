import { printJson } from '../util/json.ts';
import type { HttpObservation } from './observation.ts';

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

/**
 * The log entry of a request as one line of JSON, with the line's end. It is put together here and not by
 * the logging library: there is one for each request, and that path took several times as long.
 * @param timestamp as all entries have it; it needs no escaping
 */
export function httpLogLine(o: HttpObservation, timestamp: string): string {
  const id = JSON.stringify(o.requestId);
  const info =
    `{"status":${o.status},"method":${JSON.stringify(o.method)},"ip":${JSON.stringify(o.ip)},"url":${JSON.stringify(o.url)},` +
    `"http_version":${JSON.stringify(o.httpVersion)},"content_encoding":${JSON.stringify(o.encoding)}}`;
  const operation =
    `{"request_id":${id},"user_vars":${variablesText(o.userVariables)},"request_mode":"${o.mode}",` +
    `"operation_name":${JSON.stringify(o.operationName)}${o.query === null ? '' : `,"query":${printJson(o.query)}`},"response_size":${o.responseSize},"query_execution_time":${o.duration}` +
    `${o.error === null ? '' : `,"error":${JSON.stringify(o.error)}`}}`;
  const level = o.error === null ? 'info' : 'error';
  const detail = `{"request_id":${id},"http_info":${info},"operation":${operation}}`;
  return `{"level":"${level}","timestamp":"${timestamp}","type":"http-log","detail":${detail}}\n`;
}
