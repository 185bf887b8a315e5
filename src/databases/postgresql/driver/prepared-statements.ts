import type { OutputBuffer } from './output-buffer.ts';

interface Prepared {
  readonly text: string;
  readonly name: string;
  /** Bytes that the server keeps for it, estimated. */
  readonly memory: number;
  used: number;
}

/**
 * What PostgreSQL 15 keeps of a statement with its generic plan, by characters of its text: 60 to 200 bytes for
 * each, most where it joins (`pg_backend_memory_contexts` before and after). It keeps some kilobytes of any.
 */
const CHARACTER = 200;
const STATEMENT = 8_192;
/** A statement that takes more than this part of the memory is not kept. */
const PART_OF_STATEMENT = 1 / 8;
/** So much goes at once, so that the scan is rare. */
const PART_EVICTED = 1 / 8;

/**
 * The named statements of one session: text to name. They are bounded in number and in the memory that the
 * server needs for them; the least recently used are closed.
 */
export class PreparedStatements {
  readonly #byText = new Map<string, Prepared>();
  readonly #limit: number;
  readonly #maxMemory: number;
  #taken = 0;
  #clock = 0;
  #counter = 0;

  /** @param maxMemory bytes in the server, estimated */
  constructor(limit: number, maxMemory: number) {
    this.#limit = limit;
    this.#maxMemory = maxMemory;
  }

  get size(): number {
    return this.#byText.size;
  }

  /** Bytes that the server keeps for all, estimated. */
  get memory(): number {
    return this.#taken;
  }

  /** Whether a statement is small enough to be kept. */
  takes(text: string): boolean {
    return memoryOf(text) <= this.#maxMemory * PART_OF_STATEMENT;
  }

  /** The statement's name when the server has it (or will have, when it reads what was sent). */
  name(text: string): string | undefined {
    const prepared = this.#byText.get(text);
    if (prepared === undefined) return undefined;
    prepared.used = ++this.#clock;
    return prepared.name;
  }

  /** Writes the Parse message of a new statement, and Close for the ones it replaces. */
  prepare(text: string, output: OutputBuffer): string {
    const memory = memoryOf(text);
    if (this.#byText.size >= this.#limit || this.#taken + memory > this.#maxMemory) this.#evict(memory, output);
    const name = `s${++this.#counter}`;
    this.#byText.set(text, { text, name, memory, used: ++this.#clock });
    this.#taken += memory;
    output.parse(name, text);
    return name;
  }

  /** The server refused the statement, or no longer has it. */
  forget(names: readonly string[]): void {
    for (const prepared of this.#byText.values()) if (names.includes(prepared.name)) this.#remove(prepared);
  }

  /** Its plan is stale: the next use prepares it again. */
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
