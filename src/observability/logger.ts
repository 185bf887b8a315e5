import pino from 'pino';
import { httpLogLine } from './http-log-line.ts';
import { isWanted, logEntry, type RareObservation } from './log-entry.ts';
import type { Observation, Observer } from './observation.ts';
import { LineTap } from './otlp/line-tap.ts';
import type { LineSink } from './otlp/log-lines.ts';
import { queryLogLine } from './query-log-line.ts';
import { textLines } from './text-lines.ts';
import { LEVELS, type LogLevel } from './log-level.ts';

export type LogFormat = 'text' | 'json';

export interface LoggerOptions {
  readonly level: LogLevel;
  /** Optional types that are switched on: `startup`, `http-log`, …; the rest is always on. */
  readonly enabledTypes: ReadonlySet<string>;
  /** JSON where nothing is said. */
  readonly format?: LogFormat;
  /** Of text. */
  readonly colour?: boolean;
  /** File descriptor; 1 is standard output. */
  readonly destination?: number;
}

/** Text with colours for people at a terminal, JSON for programs; `NO_COLOR` (https://no-color.org) asks for no colours. */
export function logStyle(
  format: LogFormat | 'auto',
  terminal: boolean,
  environment: Readonly<Record<string, string | undefined>>,
): Required<Pick<LoggerOptions, 'format' | 'colour'>> {
  // Builds have terminals too, and nobody reads along.
  const asked = format === 'auto' ? (terminal && !environment['CI'] ? 'text' : 'json') : format;
  return { format: asked, colour: terminal && !environment['NO_COLOR'] && environment['TERM'] !== 'dumb' };
}

export interface Logger {
  readonly observe: Observer;
  /** Writes what is buffered, synchronously; before the process ends. */
  flush(): void;
  /**
   * Comes back when what is buffered is written or cannot be, after a second at the latest. To be called before `flush`, which
   * tries for ever where the reader of a pipe has gone and no write before has shown it.
   */
  settle(): Promise<void>;
  /** Entries that nobody took in time, since the start. */
  readonly dropped?: () => number;
  /**
   * From now on each line that is written goes there as well, as JSON in any format, but for those about the sending of lines.
   * The first sink gets the lines before it, too, as far as they are few.
   */
  readonly tap?: (sink: LineSink | null) => void;
}

const SETTLE_MS = 1000;
/** Characters that wait for whoever reads the log; what would be more is dropped and counted. */
const MOST_WAITING = 16 * 1024 * 1024;

const FLUSH_MS = 500;
/** Each write of the stream is a task of the thread pool with its own call back. */
const LINES_LENGTH = 32_768;

/** Collects lines: the stream counts and copies the bytes of what it gets, which is cheaper for many at once. */
class LineBuffer {
  #text = '';
  readonly #write: (text: string) => void;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  add(line: string): void {
    this.#text += line;
    if (this.#text.length >= LINES_LENGTH) this.flush();
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
 * Lines of text or of JSON, `{type, timestamp, level, detail}`, buffered and written asynchronously.
 * Session variables are logged, secrets never reach an observation.
 */
export function createLogger(options: LoggerOptions): Logger {
  return options.format === 'text' ? textLogger(options) : jsonLogger(options);
}

function isEnabled(level: LogLevel, least: LogLevel): boolean {
  return LEVELS.indexOf(level) >= LEVELS.indexOf(least);
}

function jsonLogger(options: LoggerOptions): Logger {
  const { stream, dropped } = boundedStream(options, 4096);
  const tap = new LineTap();
  /** Something has been written since the last flush, each of which is a task of the thread pool. */
  let isDirty = false;
  const lines = new LineBuffer((text) => {
    isDirty = true;
    stream.write(text);
  });
  let isFlushing = false;
  const timer = setInterval(() => {
    lines.flush();
    // Under load it takes until there is less to write, and each call waits by listeners of its own.
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

/** Prints what is wanted: lines of requests and queries, of which there are very many, and others. */
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
    if (!isWanted(o, enabledTypes)) return;
    const { level: own, type, detail } = logEntry(o);
    const trace = 'trace' in o ? o.trace : undefined;
    last = o;
    log[own](trace === undefined ? { type, detail } : { type, detail, trace_id: trace.traceId, span_id: trace.spanId });
    last = undefined;
  };
}

/** Somebody is looking: what is told is written at once. */
function textLogger(options: LoggerOptions): Logger {
  // Not 0: then nothing can wait for what is under way.
  const { stream, dropped } = boundedStream(options, 1);
  const { enabledTypes } = options;
  const print = textLines(options.colour ?? false);
  const tap = new LineTap();
  const take = (line: string): void => tap.take(line, lastTime);
  const tell = jsonPrinter(options, take, take);
  const observe = (o: Observation): void => {
    const isRare = o.kind !== 'http' && o.kind !== 'query';
    if (isRare ? !isWanted(o, enabledTypes) : !enabledTypes.has(`${o.kind}-log`)) return;
    const level = isRare ? logEntry(o).level : o.kind === 'http' && o.error !== null ? 'error' : 'info';
    if (!isEnabled(level, options.level)) return;
    const text = print(o, level, new Date());
    if (text === '') return;
    stream.write(text);
    if (tap.isOpen && o.kind !== 'telemetry') tell(o);
  };
  return { observe, flush: () => end(stream), settle: () => settle(stream), dropped, tap: (sink) => tap.follow(sink) };
}

/** A reader that stalls costs no more memory than so much. */
function boundedStream({ destination = 1 }: LoggerOptions, minLength: number) {
  const stream = pino.destination({ fd: destination, sync: false, minLength, maxLength: MOST_WAITING });
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
    // the destination is not open yet or already gone: nothing can be written any more
  }
}

/** A failed write makes the stream of pino deaf, so that nothing waits for it any more. */
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
