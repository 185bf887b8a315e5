/**
 * Those who wait for something, in lines of their own by whom they belong to: the lines take turns, so
 * that who has many waiting does not keep others waiting. Within a line it is first come, first served.
 */
export class WaitingLines<T extends { readonly turn: string }> {
  /** Without empty ones; the line whose turn it is comes first. */
  readonly #lines = new Map<string, T[]>();
  #count = 0;

  get size(): number {
    return this.#count;
  }

  /** How many wait for one. */
  sizeOf(turn: string): number {
    return this.#lines.get(turn)?.length ?? 0;
  }

  push(item: T): void {
    const line = this.#lines.get(item.turn);
    if (line === undefined) this.#lines.set(item.turn, [item]);
    else line.push(item);
    this.#count++;
  }

  /**
   * Offers the first of each line in turn, until it is taken by one of them.
   * @param take whether there is something for it
   * @returns whether one has been served; its line waits for the others' turns then
   */
  serveOne(take: (item: T) => boolean): boolean {
    for (const [turn, line] of this.#lines) {
      const first = line[0] as T;
      if (!take(first)) continue;
      line.shift();
      this.#count--;
      this.#lines.delete(turn);
      if (line.length > 0) this.#lines.set(turn, line);
      return true;
    }
    return false;
  }

  /** Takes out those that are no longer to wait. */
  remove(leaves: (item: T) => boolean): T[] {
    const left: T[] = [];
    for (const [turn, line] of this.#lines) {
      const before = left.length;
      const staying = line.filter((item) => !leaves(item) || left.push(item) === 0);
      if (left.length === before) continue;
      if (staying.length === 0) this.#lines.delete(turn);
      else this.#lines.set(turn, staying);
    }
    this.#count -= left.length;
    return left;
  }

  *[Symbol.iterator](): Iterator<T> {
    for (const line of this.#lines.values()) yield* line;
  }
}
