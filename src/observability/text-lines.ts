/** Text format of the log: one line per observation, and several for the summary of the start. */
import { printJson } from '../util/json.ts';
import { type Paint, painter, type Style } from '../util/paint.ts';
import { logEntry } from './log-entry.ts';
import type { HttpObservation, Observation, QueryObservation, WebsocketObservation } from './observation.ts';
import type { LogLevel } from './log-level.ts';

const LEVEL_STYLES: Readonly<Record<LogLevel, Style>> = { debug: 'dim', info: 'green', warn: 'yellow', error: 'red' };

/** @returns text with a line break, or the empty string for observations that only JSON logs contain */
export type TextLines = (o: Observation, level: LogLevel, now: Date) => string;

export function textLines(colour: boolean): TextLines {
  const paint = painter(colour);
  return (o, level, now) => {
    const message = messageOf(o, paint);
    if (message === null) return '';
    const time = paint('dim', now.toTimeString().slice(0, 8));
    return `${time} ${paint(LEVEL_STYLES[level], level.toUpperCase().padEnd(5))} ${message}\n`;
  };
}

/**
 * Escapes characters that a terminal would interpret instead of showing, because texts of clients and databases are logged: control
 * characters, and those that change the direction of text.
 */
function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function messageOf(o: Observation, paint: Paint): string | null {
  switch (o.kind) {
    case 'http':
      return httpMessage(o, paint);
    case 'query':
      return queryMessage(o, paint);
    case 'websocket':
      return websocketMessage(o, paint);
    case 'startup':
      return startupMessage(o, paint);
    case 'shutdown':
      return `stopping: ${visible(o.message)}`;
    case 'source':
      return `${paint('bold', visible(o.source))} ${visible(o.event)}: ${visible(o.message)}`;
    case 'telemetry':
      return `${paint('bold', 'opentelemetry')} ${o.event}: ${visible(o.message)}`;
    case 'unexpected': {
      const text = o.error instanceof Error ? (o.error.stack ?? o.error.message) : String(o.error);
      return `${visible(o.message)}\n${text.split('\n').map(visible).join('\n')}`;
    }
    default: {
      const { type, detail } = logEntry(o);
      return plain(type, detail);
    }
  }
}

function httpMessage(o: HttpObservation, paint: Paint): string {
  const failed = o.error !== null;
  const parts = [
    paint('bold', visible(o.method)),
    visible(o.url),
    paint(failed ? 'red' : 'green', String(o.status)),
    `${(o.duration * 1000).toFixed(1)} ms`,
    `${o.responseSize} B`,
  ];
  if (o.role !== null) parts.push(paint('cyan', visible(o.role)));
  if (o.operationName !== null) parts.push(visible(o.operationName));
  if (o.mode === 'batched') parts.push('batch');
  parts.push(paint('dim', visible(o.ip)));
  if (o.error !== null) parts.push(paint('red', visible(`${o.error.code}: ${o.error.message} at ${o.error.path}`)));
  if (o.query !== null) parts.push(visible(printJson(o.query)));
  return parts.join(' ');
}

function queryMessage({ query, statements, remoteRequests = new Map() }: QueryObservation, paint: Paint): string {
  const sql = [...(statements ?? [])].map(([key, { text, values }]) => `${visible(key)}: ${visible(text)} ${visible(printJson(values))}`);
  const remote = [...remoteRequests].map(
    ([key, { remoteSchema, document }]) => `${visible(key)}: ${visible(remoteSchema)} ${visible(document)}`,
  );
  return [`query ${visible(printJson(query))}`, ...[...sql, ...remote].map((line) => `  ${paint('dim', line)}`)].join('\n');
}

function websocketMessage({ websocketId, userVariables, message, event }: WebsocketObservation, paint: Paint): string {
  const parts = [paint('bold', 'websocket'), paint('dim', websocketId)];
  if (event.type === 'operation') {
    parts.push(event.state, visible(JSON.stringify(event.operationId)));
    if (event.operationName !== null) parts.push(visible(event.operationName));
  } else parts.push(event.type);
  const role = userVariables?.get('x-svc-role');
  if (role !== undefined) parts.push(paint('cyan', visible(role)));
  if (message !== null) parts.push(visible(message));
  if ('error' in event && event.error !== null) {
    parts.push(paint('red', visible(`${event.error.code}: ${event.error.message} at ${event.error.path}`)));
  }
  if (event.type === 'operation' && event.query !== null) parts.push(visible(printJson(event.query)));
  return parts.join(' ');
}

function startupMessage(o: Extract<Observation, { readonly kind: 'startup' }>, paint: Paint): string | null {
  // Two kilobytes that are rarely read; `--log-format json` has them.
  if (o.message === 'server_configuration') return null;
  const { info = {} } = o;
  const warning = info['warning'];
  if (typeof warning === 'string') return paint('yellow', visible(warning));
  if (o.message !== 'listening') return typeof info['message'] === 'string' ? visible(info['message']) : plain(o.message, info);
  const { url, ...rest } = info;
  const title = `${paint('bold', 'listening')} at ${paint('cyan', visible(String(url)))}`;
  return [title, ...Object.entries(rest).flatMap(([name, value]) => entryLines(name, value, paint))].join('\n');
}

function entryLines(name: string, value: unknown, paint: Paint): readonly string[] {
  const items = Array.isArray(value) ? value : [value];
  const label = name.replaceAll('_', ' ').padEnd(10);
  return items.map((item, i) => `  ${paint('dim', i === 0 ? label : ' '.repeat(label.length))} ${visible(String(item))}`);
}

function plain(title: string, detail: object): string {
  const shown = Object.entries(detail).filter(([, value]) => value !== null && value !== undefined);
  return [
    visible(title),
    ...shown.map(([key, value]) => `${key}=${typeof value === 'string' ? quoted(value) : visible(JSON.stringify(value))}`),
  ].join(' ');
}

/** Quotes text whose end would be ambiguous otherwise. */
function quoted(text: string): string {
  return visible(text === '' || /[\s"=]/.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : text);
}
