import pino from 'pino';
import { httpLogLine } from './http-log-line.ts';
import { isTypeEnabled, logEntry, type RareObservation } from './log-entry.ts';
import type { Observation, Observer } from './observation.ts';
import { LineTap } from './otlp/line-tap.ts';
import type { LineSink } from './otlp/log-lines.ts';
import { queryLogLine } from './query-log-line.ts';
import { textLines } from './text-lines.ts';
import { LEVELS, type LogLevel } from './log-level.ts';
import { hasColours } from '../util/paint.ts';

export type LogFormat = 'text' | 'json';

export interface LoggerOptions {
  readonly level: LogLevel;
  /** Enabled optional log types: `startup`, `http-log`, …; all other types are always enabled. */
  readonly enabledTypes: ReadonlySet<string>;
  /** Defaults to JSON. */
  readonly format?: LogFormat;
  /** Colours in text format. */
  readonly colour?: boolean;
  /** File descriptor. Defaults to 1, standard output. */
  readonly destination?: number;
}

/** Chooses text with colours on a terminal, and JSON elsewhere. `NO_COLOR` (https://no-color.org) disables colours. */
export function logStyle(
  format: LogFormat | 'auto',
  terminal: boolean,
  environment: Readonly<Record<string, string | undefined>>,
): Required<Pick<LoggerOptions, 'format' | 'colour'>> {
  // A CI job may have a terminal, but its output is read by programs.
  const chosen = format === 'auto' ? (terminal && !environment['CI'] ? 'text' : 'json') : format;
  return { format: chosen, colour: hasColours(terminal, environment) };
}

export interface Logger {
  readonly observe: Observer;
  /** Writes buffered entries synchronously, before the process exits. */
  flush(): void;
  /**
   * Resolves when buffered entries are written or cannot be written, after a second at the latest. Must be called before `flush`, which
   * retries forever if the reader of a pipe is gone and no earlier write has failed.
   */
  settle(): Promise<void>;
  /** Number of entries since the start that were dropped because the reader was too slow. */
  readonly dropped?: () => number;
  /**
   * Also sends each line to a sink, as JSON in any format, except lines about the export of lines. The first sink also receives a limited
   * number of earlier lines.
   */
  readonly tap?: (sink: LineSink | null) => void;
}

const SETTLE_MS = 1000;
/** Maximum number of characters that wait for the reader of the log; more are dropped and counted. */
const MAX_WAITING = 16 * 1024 * 1024;

const FLUSH_MS = 500;
/** Characters per write: each write of the stream is a task of the thread pool with a callback. */
const WRITE_LENGTH = 32_768;

/** Collects lines: the stream counts and copies the bytes of each write, which is cheaper for many lines at once. */
class LineBuffer {
  #text = '';
  readonly #write: (text: string) => void;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  add(line: string): void {
    this.#text += line;
    if (this.#text.length >= WRITE_LENGTH) this.flush();
  }

  flush(): void {
    const text = this.#text;
    if (text === '') return;
    this.#text = '';
    this.#write(text);
  }
}

let lastTime = 0;
let lastTimestamp = '';

/** Returns `2024-05-01T10:00:00.123+0000`; under load many entries share one text. */
function timestamp(): string {
  const now = Date.now();
  if (now !== lastTime) {
    lastTime = now;
    lastTimestamp = `${new Date(now).toISOString().slice(0, -1)}+0000`;
  }
  return lastTimestamp;
}

/**
 * Creates a logger that writes lines of text or JSON, `{type, timestamp, level, detail}`, buffered and asynchronously. Session variables
 * are logged; secrets never reach an observation.
 */
export function createLogger(options: LoggerOptions): Logger {
  return options.format === 'text' ? textLogger(options) : jsonLogger(options);
}

function isEnabled(level: LogLevel, minimum: LogLevel): boolean {
  return LEVELS.indexOf(level) >= LEVELS.indexOf(minimum);
}

function jsonLogger(options: LoggerOptions): Logger {
  const { stream, dropped } = boundedStream(options, 4096);
  const tap = new LineTap();
  /** Set by a write since the last flush; each flush is a task of the thread pool. */
  let isDirty = false;
  const lines = new LineBuffer((text) => {
    isDirty = true;
    stream.write(text);
  });
  let isFlushing = false;
  const timer = setInterval(() => {
    lines.flush();
    // Under load a flush takes until there is less to write, and each further call adds listeners.
    if (isFlushing || !isDirty) return;
    isFlushing = true;
    isDirty = false;
    stream.flush(() => {
      isFlushing = false;
    });
  }, FLUSH_MS);
  timer.unref();
  const observe = jsonPrinter(
    options,
    (line) => {
      lines.add(line);
      tap.take(line, lastTime);
    },
    (line, o) => {
      lines.flush();
      isDirty = true;
      stream.write(line);
      if (o.kind !== 'telemetry') tap.take(line, lastTime);
    },
  );
  return { observe, flush: () => end(stream, timer, lines), settle: () => settle(stream, lines), dropped, tap: (sink) => tap.follow(sink) };
}

/** Prints enabled entries as JSON, to `frequent` for requests and queries and to `rare` for all others. */
function jsonPrinter(
  { level, enabledTypes }: LoggerOptions,
  frequent: (line: string) => void,
  rare: (line: string, o: RareObservation) => void,
): Observer {
  let last: RareObservation | undefined;
  const write = (line: string): void => {
    if (last !== undefined) rare(line, last);
  };
  const log = pino(
    { level, base: null, timestamp: () => `,"timestamp":"${timestamp()}"`, formatters: { level: (label) => ({ level: label }) } },
    { write },
  );
  const httpEnabled = enabledTypes.has('http-log');
  const queriesEnabled = enabledTypes.has('query-log');
  return (o) => {
    if (o.kind === 'http') {
      if (httpEnabled && isEnabled(o.error === null ? 'info' : 'error', level)) frequent(httpLogLine(o, timestamp()));
      return;
    }
    if (o.kind === 'query') {
      if (queriesEnabled && isEnabled('info', level)) frequent(queryLogLine(o, timestamp()));
      return;
    }
    if (!isTypeEnabled(o, enabledTypes)) return;
    const { level: own, type, detail } = logEntry(o);
    const trace = 'trace' in o ? o.trace : undefined;
    last = o;
    log[own](trace === undefined ? { type, detail } : { type, detail, trace_id: trace.traceId, span_id: trace.spanId });
    last = undefined;
  };
}

/** Text is for a person at a terminal, so each entry is written at once. */
function textLogger(options: LoggerOptions): Logger {
  // With 0, the stream could not wait for a running write.
  const { stream, dropped } = boundedStream(options, 1);
  const { enabledTypes } = options;
  const print = textLines(options.colour ?? false);
  const tap = new LineTap();
  const take = (line: string): void => tap.take(line, lastTime);
  const printJsonLine = jsonPrinter(options, take, take);
  const observe = (o: Observation): void => {
    const isRare = o.kind !== 'http' && o.kind !== 'query';
    if (isRare ? !isTypeEnabled(o, enabledTypes) : !enabledTypes.has(`${o.kind}-log`)) return;
    const level = isRare ? logEntry(o).level : o.kind === 'http' && o.error !== null ? 'error' : 'info';
    if (!isEnabled(level, options.level)) return;
    const text = print(o, level, new Date());
    if (text === '') return;
    stream.write(text);
    if (tap.isOpen && o.kind !== 'telemetry') printJsonLine(o);
  };
  return { observe, flush: () => end(stream), settle: () => settle(stream), dropped, tap: (sink) => tap.follow(sink) };
}

/** Bounds the memory for a reader that stalls. */
function boundedStream({ destination = 1 }: LoggerOptions, minLength: number) {
  const stream = pino.destination({ fd: destination, sync: false, minLength, maxLength: MAX_WAITING });
  let count = 0;
  stream.on('drop', (text: string) => {
    count += text.split('\n').length - 1;
  });
  return { stream, dropped: () => count };
}

function end(stream: ReturnType<typeof pino.destination>, timer?: NodeJS.Timeout, lines?: LineBuffer): void {
  clearInterval(timer);
  lines?.flush();
  try {
    stream.flushSync();
  } catch {
    // The destination is not open yet or already closed.
  }
}

/** Has a timeout, because pino's stream never calls back after a failed write. */
function settle(stream: ReturnType<typeof pino.destination>, lines?: LineBuffer): Promise<void> {
  lines?.flush();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, SETTLE_MS);
    stream.flush(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
