import type { Cost } from './driver/pool.ts';

const GENERATION = 2_000;
const WEIGHT = 0.2;

/** What statements have cost so far, by text. Bounded: texts that are not used for long are forgotten. */
export class StatementCosts {
  private recent = new Map<string, Cost>();
  private older = new Map<string, Cost>();

  /** Null when nothing is known. */
  of(text: string): Cost | null {
    return this.recent.get(text) ?? this.older.get(text) ?? null;
  }

  /** `cost` is what `of` gave when the statement was sent. */
  record(text: string, cost: Cost | null, ms: number): void {
    if (cost !== null) cost.ms += (ms - cost.ms) * WEIGHT;
    if (this.recent.has(text)) return;
    if (this.recent.size >= GENERATION) {
      this.older = this.recent;
      this.recent = new Map();
    }
    this.recent.set(text, cost ?? { ms });
  }
}
