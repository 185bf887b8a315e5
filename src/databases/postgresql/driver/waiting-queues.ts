/**
 * Queues by role that are served round robin, so that a role with many waiting items does not delay others. Each queue is first in, first
 * out.
 */
export class WaitingQueues<T extends { readonly role: string }> {
  /** Non-empty queues; the next one is first. */
  readonly #queues = new Map<string, T[]>();
  #count = 0;

  get size(): number {
    return this.#count;
  }

  /** Returns the length of a role's queue. */
  sizeOf(role: string): number {
    return this.#queues.get(role)?.length ?? 0;
  }

  push(item: T): void {
    const queue = this.#queues.get(item.role);
    if (queue === undefined) this.#queues.set(item.role, [item]);
    else queue.push(item);
    this.#count++;
  }

  /**
   * Offers the first item of each queue in turn until one is served; its queue is then the last one.
   * @param take returns whether it can serve an item
   * @returns whether an item was served
   */
  serveOne(take: (item: T) => boolean): boolean {
    for (const [role, queue] of this.#queues) {
      const first = queue[0] as T;
      if (!take(first)) continue;
      queue.shift();
      this.#count--;
      this.#queues.delete(role);
      if (queue.length > 0) this.#queues.set(role, queue);
      return true;
    }
    return false;
  }

  /** Removes items that no longer wait. */
  remove(leaves: (item: T) => boolean): T[] {
    const left: T[] = [];
    for (const [role, queue] of this.#queues) {
      const before = left.length;
      const staying = queue.filter((item) => !leaves(item) || left.push(item) === 0);
      if (left.length === before) continue;
      if (staying.length === 0) this.#queues.delete(role);
      else this.#queues.set(role, staying);
    }
    this.#count -= left.length;
    return left;
  }

  *[Symbol.iterator](): Iterator<T> {
    for (const queue of this.#queues.values()) yield* queue;
  }
}
