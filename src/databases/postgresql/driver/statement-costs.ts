/** Duration of a statement, in milliseconds. */
export interface Cost {
  /** Moving average. */
  ms: number;
  /** Longest of the last runs: it decays slowly, because a statement may be slow for few of its values. */
  longest: number;
}

const GENERATION = 2_000;
/** Maximum total length of the texts of a generation, in characters. */
const GENERATION_LENGTH = 8_000_000;
const WEIGHT = 0.2;
/** Part of the longest duration that a further run leaves: half of it after 35 runs. */
const DECAY = 0.98;

/** Costs of statements by text. The least recently used ones are evicted. */
export class StatementCosts {
  #recent = new Map<string, Cost>();
  #older = new Map<string, Cost>();
  /** Number of characters of the recent texts. */
  #length = 0;

  /** Returns `null` for an unknown statement. */
  of(text: string): Cost | null {
    return this.#recent.get(text) ?? this.#older.get(text) ?? null;
  }

  record(text: string, ms: number): void {
    const recent = this.#recent.get(text);
    const cost = recent ?? this.#older.get(text);
    if (cost !== undefined) {
      cost.ms += (ms - cost.ms) * WEIGHT;
      cost.longest = Math.max(ms, cost.longest * DECAY);
    }
    if (recent !== undefined) return;
    if (this.#recent.size >= GENERATION || this.#length + text.length > GENERATION_LENGTH) {
      this.#older = this.#recent;
      this.#recent = new Map();
      this.#length = 0;
    }
    this.#length += text.length;
    this.#recent.set(text, cost ?? { ms, longest: ms });
  }

  /** Records a run that was cancelled, and would have taken at least so long. An unknown statement stays unknown. */
  recordCancelled(text: string, ms: number): void {
    const cost = this.of(text);
    if (cost !== null && ms > cost.ms) this.record(text, ms);
  }
}
