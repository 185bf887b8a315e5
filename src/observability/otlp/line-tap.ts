import type { LineSink, LogLine } from './log-lines.ts';

/** Lines that are kept until it is known whether anybody wants them: those of the start come before the settings are read. */
const MOST_EARLY = 200;
/** Bytes of a line beside its text, estimated. */
const LINE_BYTES = 100;

/** Hands on the lines of the log. */
export class LineTap {
  #sink: LineSink | null = null;
  #early: LogLine[] | null = [];

  /** Whether it wants to have lines. */
  get isOpen(): boolean {
    return this.#sink !== null || this.#early !== null;
  }

  follow(sink: LineSink | null): void {
    this.#sink = sink;
    for (const line of this.#early ?? []) sink?.take(line);
    this.#early = null;
  }

  /** @param time ms since the epoch */
  take(text: string, time: number): void {
    if (this.#sink === null && this.#early === null) return;
    const line = { text, time, size: 2 * text.length + LINE_BYTES };
    if (this.#sink !== null) this.#sink.take(line);
    else if (this.#early !== null && this.#early.length < MOST_EARLY) this.#early.push(line);
  }
}
