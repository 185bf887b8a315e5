import pino from 'pino';
import { httpLogLine } from './http-log-line.ts';
import type { Observation, Observer } from './observation.ts';
import { queryLogLine } from './query-log-line.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface LoggerOptions {
  readonly level: LogLevel;
  /** Optional types that are switched on: `startup`, `http-log`, …; the rest is always on. */
  readonly enabledTypes: ReadonlySet<string>;
  /** File descriptor; 1 is standard output. */
  readonly destination?: number;
}

export interface Logger {
  readonly observe: Observer;
  /** Writes what is buffered, synchronously; before the process ends. */
  flush(): void;
}

const FLUSH_MS = 500;
const LINES_LENGTH = 8_192;

/** Collects lines: the stream counts and copies the bytes of what it gets, which is cheaper for many at once. */
class LineBuffer {
  private text = '';
  private readonly write: (text: string) => void;

  constructor(write: (text: string) => void) {
    this.write = write;
  }

  add(line: string): void {
    this.text += line;
    if (this.text.length >= LINES_LENGTH) this.flush();
  }

  flush(): void {
    const { text } = this;
    if (text === '') return;
    this.text = '';
    this.write(text);
  }
}

let lastTime = 0;
let lastTimestamp = '';

/** `2024-05-01T10:00:00.123+0000`; under load many entries share one. */
function timestamp(): string {
  const now = Date.now();
  if (now !== lastTime) {
    lastTime = now;
    lastTimestamp = `${new Date(now).toISOString().slice(0, -1)}+0000`;
  }
  return lastTimestamp;
}

/**
 * JSON lines `{type, timestamp, level, detail}`, buffered and written asynchronously.
 * Session variables are logged, secrets never reach an observation.
 */
export function createLogger(options: LoggerOptions): Logger {
  const stream = pino.destination({ fd: options.destination ?? 1, sync: false, minLength: 4096 });
  const lines = new LineBuffer((text) => stream.write(text));
  const timer = setInterval(() => {
    lines.flush();
    stream.flush(() => undefined);
  }, FLUSH_MS);
  timer.unref();
  const log = pino(
    {
      level: options.level,
      base: null,
      timestamp: () => `,"timestamp":"${timestamp()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    stream,
  );
  const httpEnabled = options.enabledTypes.has('http-log');
  const queriesEnabled = options.enabledTypes.has('query-log');
  const startupEnabled = options.enabledTypes.has('startup');
  const webhookEnabled = options.enabledTypes.has('webhook-log');
  const keysEnabled = options.enabledTypes.has('jwk-refresh-log');
  const healthEnabled = options.enabledTypes.has('health-check-log');
  const observe = (o: Observation): void => {
    if (o.kind !== 'http' && o.kind !== 'query') lines.flush();
    switch (o.kind) {
      case 'http':
        if (httpEnabled && log.isLevelEnabled(o.error === null ? 'info' : 'error')) lines.add(httpLogLine(o, timestamp()));
        return;
      case 'query':
        if (queriesEnabled && log.isLevelEnabled('info')) lines.add(queryLogLine(o, timestamp()));
        return;
      case 'webhook':
        if (webhookEnabled) {
          const level = o.error !== null || (o.status !== 200 && o.status !== 401) ? 'error' : o.message === null ? 'info' : 'warn';
          const { status: status_code, url, method, error: http_error, message } = o;
          log[level]({ type: 'webhook-log', detail: { status_code, url, method, http_error, response: null, message } });
        }
        return;
      case 'jwk-refresh':
        if (keysEnabled) {
          const { url, message, error } = o;
          log[error === null ? 'info' : 'error']({ type: 'jwk-refresh-log', detail: { url, message, http_error: error } });
        }
        return;
      case 'source-health':
        if (healthEnabled) log[o.status === 'OK' ? 'info' : 'warn'](healthEntry(o));
        return;
      case 'startup':
        // A warning is told even to those who do not want to hear of the start.
        if (startupEnabled || o.info?.['warning'] !== undefined) {
          log[o.info?.['warning'] === undefined ? 'info' : 'warn']({ type: 'startup', detail: { kind: o.message, info: o.info ?? {} } });
        }
        return;
      case 'shutdown':
        log.info({ type: 'startup', detail: { kind: 'shutdown', info: o.message } });
        return;
      case 'source':
        log.warn({ type: 'pg-client', detail: { source: o.source, event: o.event, message: o.message } });
        return;
      case 'metadata':
        log.info({ type: 'metadata', detail: { message: o.message, ...o.info } });
        return;
      case 'unexpected':
        log.error({
          type: 'unhandled-internal-error',
          detail: { message: o.message, error: o.error instanceof Error ? (o.error.stack ?? o.error.message) : String(o.error) },
        });
    }
  };
  return {
    observe,
    flush(): void {
      clearInterval(timer);
      lines.flush();
      try {
        stream.flushSync();
      } catch {
        // the destination is not open yet or already gone: nothing can be written any more
      }
    },
  };
}

function healthEntry({ source, status, timestamp, error, check }: Extract<Observation, { kind: 'source-health' }>): object {
  const { interval, retries, attempt, timeout } = check;
  const internal = { interval, max_retries: retries, retry_iteration: attempt, timeout };
  return { type: 'health-check-log', detail: { source_name: source, status, timestamp, error, internal } };
}
