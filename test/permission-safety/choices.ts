/**
 * Random decisions read from a list of numbers. After the end of the list, and where a number is 0, the
 * first and simplest alternative is chosen, so a shorter list makes a smaller case.
 */
export const CHOICE_MAX = 0xffff;

export class Choices {
  private readonly numbers: readonly number[];
  private next = 0;

  constructor(numbers: readonly number[]) {
    this.numbers = numbers;
  }

  /** 0 to `count - 1`. */
  int(count: number): number {
    const number = this.numbers[this.next++] ?? 0;
    return Math.floor((number / (CHOICE_MAX + 1)) * count);
  }

  /** True with this probability in percent; never for the simplest choice. */
  chance(percent: number): boolean {
    return this.int(100) >= 100 - percent;
  }

  pick<T>(items: readonly T[]): T {
    if (items.length === 0) throw new Error('nothing to pick from');
    return items[this.int(items.length)] as T;
  }

  /** A subset of the items in their order, each with a probability in percent. */
  some<T>(items: readonly T[], percent: number): T[] {
    return items.filter(() => this.chance(percent));
  }

  /** The items in random order. */
  shuffle<T>(items: readonly T[]): T[] {
    const rest = [...items];
    const out: T[] = [];
    while (rest.length > 0) out.push(...rest.splice(this.int(rest.length), 1));
    return out;
  }
}

/** Numbers for `Choices` from a seed, identical on every platform. */
export function numbersOf(seed: number, count: number): number[] {
  let state = seed >>> 0;
  return Array.from({ length: count }, () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) & CHOICE_MAX;
  });
}
