import type { OutputBuffer } from './output-buffer.ts';

interface Prepared {
  readonly text: string;
  readonly name: string;
  /** Estimated memory in the server, in bytes. */
  readonly memory: number;
  used: number;
}

/**
 * Memory of a statement with its generic plan per character of its text, in bytes: PostgreSQL 15 uses 60 to 200 bytes, most for joins
 * (`pg_backend_memory_contexts` before and after), and some kilobytes for any statement.
 */
const CHARACTER = 200;
const STATEMENT = 8_192;
/** Maximum share of the memory for one prepared statement. */
const PART_OF_STATEMENT = 1 / 8;
/** Share that is evicted at once, so that scans are rare. */
const PART_EVICTED = 1 / 8;

/** Prepared statements of one session by text, limited in number and in their memory in the server. The least recently used are closed. */
export class PreparedStatements {
  readonly #byText = new Map<string, Prepared>();
  readonly #limit: number;
  readonly #maxMemory: number;
  #taken = 0;
  #clock = 0;
  #counter = 0;

  /** @param maxMemory estimated memory in the server, in bytes */
  constructor(limit: number, maxMemory: number) {
    this.#limit = limit;
    this.#maxMemory = maxMemory;
  }

  get size(): number {
    return this.#byText.size;
  }

  /** Estimated memory of all statements in the server, in bytes. */
  get memory(): number {
    return this.#taken;
  }

  /** Returns whether a statement is small enough to be prepared. */
  takes(text: string): boolean {
    return memoryOf(text) <= this.#maxMemory * PART_OF_STATEMENT;
  }

  /** Returns the name of a statement that the server has or has been sent. */
  name(text: string): string | undefined {
    const prepared = this.#byText.get(text);
    if (prepared === undefined) return undefined;
    prepared.used = ++this.#clock;
    return prepared.name;
  }

  /** Writes the Parse message of a new statement, and Close messages for those it evicts. */
  prepare(text: string, output: OutputBuffer): string {
    const memory = memoryOf(text);
    if (this.#byText.size >= this.#limit || this.#taken + memory > this.#maxMemory) this.#evict(memory, output);
    const name = `s${++this.#counter}`;
    this.#byText.set(text, { text, name, memory, used: ++this.#clock });
    this.#taken += memory;
    output.parse(name, text);
    return name;
  }

  /** Forgets statements that the server refused. */
  forget(names: readonly string[]): void {
    for (const prepared of this.#byText.values()) if (names.includes(prepared.name)) this.#remove(prepared);
  }

  /** Closes a statement with a stale plan: the next use prepares it again. */
  replace(text: string, output: OutputBuffer): void {
    const prepared = this.#byText.get(text);
    if (prepared === undefined) return;
    this.#remove(prepared);
    output.close(prepared.name);
  }

  #remove(prepared: Prepared): void {
    this.#byText.delete(prepared.text);
    this.#taken -= prepared.memory;
  }

  #evict(needed: number, output: OutputBuffer): void {
    const size = this.#limit * (1 - PART_EVICTED);
    const memory = this.#maxMemory * (1 - PART_EVICTED) - needed;
    for (const prepared of [...this.#byText.values()].sort((a, b) => a.used - b.used)) {
      if (this.#byText.size <= size && this.#taken <= memory) return;
      this.#remove(prepared);
      output.close(prepared.name);
    }
  }
}

function memoryOf(text: string): number {
  return STATEMENT + text.length * CHARACTER;
}
