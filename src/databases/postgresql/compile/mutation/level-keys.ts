/** Locations of the keys of a level while other rows may refer to them. */
import type { CatalogType } from '../../../../catalog/catalog.ts';
import type { Fill, LevelRow } from './insert-level.ts';
import type { Program, SettingSlot } from './program.ts';

/**
 * Maximum number of rows of small statements in one slot: each statement reads and rewrites the slot, so the time for one slot with all
 * rows would grow with the square of their number.
 */
const SHARED = 128;

interface KeyLocation {
  readonly slot: SettingSlot;
  /** Number of the row in the slot. */
  readonly row: number;
}

export class LevelKeys {
  readonly columns: readonly string[];
  readonly slots: SettingSlot[] = [];
  readonly #program: Program;
  readonly #name: string;
  /** Locations by the number of the row in its level. */
  readonly #locations: KeyLocation[] = [];
  readonly #texts: string[] = [];
  #taken = 0;

  /** @param name identifies the level in its tree */
  constructor(program: Program, name: string, columns: readonly string[]) {
    this.#program = program;
    this.#name = name;
    this.columns = columns;
  }

  /** Allocates consecutive locations for the rows of a statement. @returns the first */
  keep(numbers: readonly number[]): KeyLocation {
    let slot = this.slots.at(-1);
    if (slot === undefined || this.#taken + numbers.length > SHARED) {
      slot = this.#program.acquireSlot();
      this.slots.push(slot);
      this.#taken = 0;
    }
    const first: KeyLocation = { slot, row: this.#taken };
    for (const number of numbers) this.#locations[number] = { slot, row: this.#taken++ };
    return first;
  }

  /** Gives a row the location of an equal one that was written before. */
  repeat(number: number, of: number): void {
    this.#locations[number] = this.#locationOf(of);
  }

  /** @param texts by row: equal texts most likely mean the same row; `null` if all rows are different */
  addTexts(rows: readonly LevelRow[], texts: readonly string[] | null): void {
    if (texts === null) return;
    rows.forEach(({ number }, i) => {
      if (number !== null) this.#texts[number] = texts[i] as string;
    });
  }

  /** Returns a column of a row for other rows. @param number of the row in its level */
  fill(number: number, column: string, type: CatalogType): Fill {
    const { slot, row } = this.#locationOf(number);
    const index = this.columns.indexOf(column);
    return { slot, row, column: index, type, of: `${this.#name} ${index} ${this.#texts[number] ?? number}` };
  }

  release(): void {
    for (const slot of this.slots) this.#program.releaseSlot(slot);
  }

  #locationOf(number: number): KeyLocation {
    const location = this.#locations[number];
    if (location === undefined) throw new Error('invariant: the key of a row that others refer to is stored');
    return location;
  }
}
