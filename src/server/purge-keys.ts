/** Keys of responses, under which shared caches can drop them. They are public, and must not reveal names of tables. */
import { createHmac } from 'node:crypto';

/** Maximum number of keys of a response, because headers are limited; a response with more has no keys of tables. */
const MAX_KEYS = 60;
/** Hexadecimal digits of a key. */
const DIGITS = 16;

export class PurgeKeys {
  readonly #secret: string;
  readonly #known = new WeakMap<ReadonlySet<string>, readonly string[]>();

  /** @param databaseId id of the metadata database, which only administrators see: all instances have the same keys */
  constructor(databaseId: string) {
    this.#secret = `svc purge keys ${databaseId}`;
  }

  /** Returns the key of a table or function, as `planReads` names it. */
  ofRead(read: string): string {
    return `${read.startsWith('function ') ? 'f' : 't'}-${this.#digest(read)}`;
  }

  /**
   * Returns the keys of a response.
   * @param sha256 hash of its document
   */
  of(reads: ReadonlySet<string>, sha256: string): readonly string[] {
    let ofReads = this.#known.get(reads);
    if (ofReads === undefined) {
      ofReads = reads.size > MAX_KEYS - 2 ? [] : [...reads].map((read) => this.ofRead(read)).sort();
      this.#known.set(reads, ofReads);
    }
    return ['svc', `d-${sha256.slice(0, DIGITS)}`, ...ofReads];
  }

  #digest(text: string): string {
    return createHmac('sha256', this.#secret).update(text).digest('hex').slice(0, DIGITS);
  }
}
