/** How long a statement took, a moving average. */
export interface Cost {
  ms: number;
}

const GENERATION = 2_000;
/** Characters of a generation's texts. */
const GENERATION_LENGTH = 8_000_000;
const WEIGHT = 0.2;

/** What statements have cost so far, by text. Bounded: texts that are not used for long are forgotten. */
export class StatementCosts {
  #recent = new Map<string, Cost>();
  #older = new Map<string, Cost>();
  /** Characters of the recent ones. */
  #length = 0;

  /** Null when nothing is known. */
  of(text: string): Cost | null {
    return this.#recent.get(text) ?? this.#older.get(text) ?? null;
  }

  record(text: string, ms: number): void {
    const recent = this.#recent.get(text);
    const cost = recent ?? this.#older.get(text);
    if (cost !== undefined) cost.ms += (ms - cost.ms) * WEIGHT;
    if (recent !== undefined) return;
    if (this.#recent.size >= GENERATION || this.#length + text.length > GENERATION_LENGTH) {
      this.#older = this.#recent;
      this.#recent = new Map();
      this.#length = 0;
    }
    this.#length += text.length;
    this.#recent.set(text, cost ?? { ms });
  }
}
