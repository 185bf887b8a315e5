/** Limits of a cache. */
export interface CacheLimits {
  /** Bytes of all entries together; without a limit by default. */
  readonly bytes?: number;
  /** Number of entries; without a limit by default. */
  readonly entries?: number;
}

interface Entry<V> {
  readonly value: V;
  size: number;
}

/** LRU cache, limited in bytes and in number of entries. */
export class BoundedCache<K, V> {
  readonly #entries = new Map<K, Entry<V>>();
  readonly #maxBytes: number;
  readonly #maxEntries: number;
  readonly #onEvict: ((value: V) => void) | undefined;
  #bytes = 0;

  /** @param onEvict called for each value that is removed because of the limits */
  constructor({ bytes = Number.POSITIVE_INFINITY, entries = Number.POSITIVE_INFINITY }: CacheLimits, onEvict?: (value: V) => void) {
    this.#maxBytes = bytes;
    this.#maxEntries = entries;
    this.#onEvict = onEvict;
  }

  get size(): number {
    return this.#entries.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Returns the value and marks its entry as used. */
  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    // While the cache is half empty, the order of entries does not matter yet.
    if (entry !== undefined && (this.#entries.size * 2 > this.#maxEntries || this.#bytes * 2 > this.#maxBytes)) {
      this.#entries.delete(key);
      this.#entries.set(key, entry);
    }
    return entry?.value;
  }

  /** Returns the value without marking its entry as used. */
  peek(key: K): V | undefined {
    return this.#entries.get(key)?.value;
  }

  /**
   * Adds a value, unless it alone exceeds the limit.
   * @param size estimated bytes; 0 if only the number of entries is limited
   */
  set(key: K, value: V, size = 0): void {
    this.delete(key);
    if (size > this.#maxBytes) return;
    this.#entries.set(key, { value, size });
    this.#bytes += size;
    this.#evictExcess();
  }

  /** Adjusts the size of an entry whose value has grown or shrunk. */
  grow(key: K, bytes: number): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    entry.size += bytes;
    this.#bytes += bytes;
    this.#evictExcess();
  }

  delete(key: K): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#bytes -= entry.size;
  }

  /** Removes the least recently used entry. */
  evict(): void {
    const [oldest] = this.#entries;
    if (oldest === undefined) return;
    this.delete(oldest[0]);
    this.#onEvict?.(oldest[1].value);
  }

  /** Iterates from the least to the most recently used entry. */
  *[Symbol.iterator](): IterableIterator<[K, V]> {
    for (const [key, { value }] of this.#entries) yield [key, value];
  }

  #evictExcess(): void {
    while (this.#entries.size > this.#maxEntries || this.#bytes > this.#maxBytes) this.evict();
  }
}
