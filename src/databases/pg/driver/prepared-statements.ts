import type { OutputBuffer } from './output-buffer.ts';

interface Prepared {
  readonly text: string;
  readonly name: string;
  used: number;
}

/** The named statements of one session: text to name, the least recently used are closed. */
export class PreparedStatements {
  private readonly byText = new Map<string, Prepared>();
  private readonly limit: number;
  private clock = 0;
  private counter = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  get size(): number {
    return this.byText.size;
  }

  /** The statement's name when the server has it (or will have, when it reads what was sent). */
  name(text: string): string | undefined {
    const prepared = this.byText.get(text);
    if (prepared === undefined) return undefined;
    prepared.used = ++this.clock;
    return prepared.name;
  }

  /** Writes the Parse message of a new statement, and Close for the ones it replaces. */
  prepare(text: string, output: OutputBuffer): string {
    if (this.byText.size >= this.limit) this.evict(output);
    const name = `s${++this.counter}`;
    this.byText.set(text, { text, name, used: ++this.clock });
    output.parse(name, text);
    return name;
  }

  /** The server refused the statement, or no longer has it. */
  forget(names: readonly string[]): void {
    for (const prepared of this.byText.values()) if (names.includes(prepared.name)) this.byText.delete(prepared.text);
  }

  /** Its plan is stale: the next use prepares it again. */
  replace(text: string, output: OutputBuffer): void {
    const prepared = this.byText.get(text);
    if (prepared === undefined) return;
    this.byText.delete(text);
    output.close(prepared.name);
  }

  /** An eighth at once, so that the scan is rare. */
  private evict(output: OutputBuffer): void {
    const oldest = [...this.byText.values()].sort((a, b) => a.used - b.used).slice(0, Math.max(1, this.limit >> 3));
    for (const prepared of oldest) {
      this.byText.delete(prepared.text);
      output.close(prepared.name);
    }
  }
}
