/** Limits of a cache. */
export interface CacheLimits {
  /** Bytes of all entries together; without a limit by default. */
  readonly bytes?: number;
  /** Number of entries; without a limit by default. */
  readonly entries?: number;
}

interface Kept<V> {
  readonly value: V;
  size: number;
}

/** A map in the order of last use, bounded in bytes and in number: the entries that were not used for longest go first. */
export class BoundedCache<K, V> {
  readonly #kept = new Map<K, Kept<V>>();
  readonly #maxBytes: number;
  readonly #maxEntries: number;
  readonly #onEvict: ((value: V) => void) | undefined;
  #bytes = 0;

  /** @param onEvict called for each value that is removed for want of room */
  constructor({ bytes = Number.POSITIVE_INFINITY, entries = Number.POSITIVE_INFINITY }: CacheLimits, onEvict?: (value: V) => void) {
    this.#maxBytes = bytes;
    this.#maxEntries = entries;
    this.#onEvict = onEvict;
  }

  get size(): number {
    return this.#kept.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Returns the value and makes its entry the one that was used last. */
  get(key: K): V | undefined {
    const kept = this.#kept.get(key);
    // While the cache is half empty no entry is removed soon, and their order does not count.
    if (kept !== undefined && (this.#kept.size * 2 > this.#maxEntries || this.#bytes * 2 > this.#maxBytes)) {
      this.#kept.delete(key);
      this.#kept.set(key, kept);
    }
    return kept?.value;
  }

  /** Returns the value without counting that as a use. */
  peek(key: K): V | undefined {
    return this.#kept.get(key)?.value;
  }

  /**
   * Keeps a value, unless it alone exceeds the limit.
   * @param size bytes, estimated; 0 where only the number of entries is limited
   */
  set(key: K, value: V, size = 0): void {
    this.delete(key);
    if (size > this.#maxBytes) return;
    this.#kept.set(key, { value, size });
    this.#bytes += size;
    this.#makeRoom();
  }

  /** Counts that the value of an entry has become larger or smaller. */
  grow(key: K, bytes: number): void {
    const kept = this.#kept.get(key);
    if (kept === undefined) return;
    kept.size += bytes;
    this.#bytes += bytes;
    this.#makeRoom();
  }

  delete(key: K): void {
    const kept = this.#kept.get(key);
    if (kept === undefined) return;
    this.#kept.delete(key);
    this.#bytes -= kept.size;
  }

  /** Removes the entry that was not used for longest. */
  evict(): void {
    const [oldest] = this.#kept;
    if (oldest === undefined) return;
    this.delete(oldest[0]);
    this.#onEvict?.(oldest[1].value);
  }

  /** From the entry that was not used for longest to the one that was used last. */
  *[Symbol.iterator](): IterableIterator<[K, V]> {
    for (const [key, { value }] of this.#kept) yield [key, value];
  }

  #makeRoom(): void {
    while (this.#kept.size > this.#maxEntries || this.#bytes > this.#maxBytes) this.evict();
  }
}
