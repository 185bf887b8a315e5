import type { LineSink, LogLine } from './log-lines.ts';

/** Maximum number of lines that are buffered before the first `follow`, because the start is logged before export settings are known. */
const MAX_EARLY = 200;
/** Estimated memory of a line without its text, in bytes. */
const LINE_BYTES = 100;

/** Passes lines of the log to an export. */
export class LineTap {
  #sink: LineSink | null = null;
  #early: LogLine[] | null = [];

  /** True if lines are exported or buffered. */
  get isOpen(): boolean {
    return this.#sink !== null || this.#early !== null;
  }

  follow(sink: LineSink | null): void {
    this.#sink = sink;
    for (const line of this.#early ?? []) sink?.take(line);
    this.#early = null;
  }

  /** @param time in epoch milliseconds */
  take(text: string, time: number): void {
    if (this.#sink === null && this.#early === null) return;
    const line = { text, time, size: 2 * text.length + LINE_BYTES };
    if (this.#sink !== null) this.#sink.take(line);
    else if (this.#early !== null && this.#early.length < MAX_EARLY) this.#early.push(line);
  }
}
