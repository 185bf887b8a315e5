/** Where the keys of a level are kept while others may refer to them. */
import type { CatalogType } from '../../../../catalog/catalog.ts';
import type { Fill, LevelRow } from './insert-level.ts';
import type { Program, Slot } from './program.ts';

/**
 * Rows of small statements that share a slot: each statement reads and writes what is in it, so that one slot for all
 * would take the square of their number.
 */
const SHARED = 128;

interface Place {
  readonly slot: Slot;
  /** Number of the row in the slot. */
  readonly row: number;
}

export class LevelKeys {
  readonly columns: readonly string[];
  readonly slots: Slot[] = [];
  readonly #program: Program;
  readonly #name: string;
  /** By the number of the row in its level. */
  readonly #places: Place[] = [];
  readonly #texts: string[] = [];
  #taken = 0;

  /** @param name of the level, among those of its tree */
  constructor(program: Program, name: string, columns: readonly string[]) {
    this.#program = program;
    this.#name = name;
    this.columns = columns;
  }

  /** Gives the rows of a statement places next to each other, in this order. @returns the first */
  keep(numbers: readonly number[]): Place {
    let slot = this.slots.at(-1);
    if (slot === undefined || this.#taken + numbers.length > SHARED) {
      slot = this.#program.takeSlot();
      this.slots.push(slot);
      this.#taken = 0;
    }
    const first: Place = { slot, row: this.#taken };
    for (const number of numbers) this.#places[number] = { slot, row: this.#taken++ };
    return first;
  }

  /** A row is the same as another one that was written before. */
  repeat(number: number, of: number): void {
    this.#places[number] = this.#placeOf(of);
  }

  /** @param texts of rows that may be the same: where two are equal, so are most likely the rows; null: all are different */
  tell(rows: readonly LevelRow[], texts: readonly string[] | null): void {
    if (texts === null) return;
    rows.forEach(({ number }, i) => {
      if (number !== null) this.#texts[number] = texts[i] as string;
    });
  }

  /** What a column of a row gives to others. @param number of the row in its level */
  fill(number: number, column: string, type: CatalogType): Fill {
    const { slot, row } = this.#placeOf(number);
    const index = this.columns.indexOf(column);
    return { slot, row, column: index, type, of: `${this.#name} ${index} ${this.#texts[number] ?? number}` };
  }

  giveBack(): void {
    for (const slot of this.slots) this.#program.giveBack(slot);
  }

  #placeOf(number: number): Place {
    const place = this.#places[number];
    if (place === undefined) throw new Error('invariant: a row that others refer to is kept');
    return place;
  }
}
