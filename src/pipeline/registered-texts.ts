/** Documents that clients have registered by their hash (automatic persisted queries), in the memory of this process. */
import { BoundedCache } from '../util/bounded-cache.ts';

/** Maximum length of a text, in characters. */
const MAX_TEXT = 65_536;
/** Estimated bytes of an entry without its text; a character of a text counts as two. */
const ENTRY_OVERHEAD = 300;

export class RegisteredTexts {
  readonly #texts: BoundedCache<string, string>;

  /** @param maxBytes maximum size of all texts; the least recently used ones are dropped */
  constructor(maxBytes: number) {
    this.#texts = new BoundedCache({ bytes: maxBytes });
  }

  /** Size of all texts in bytes, estimated. */
  get bytes(): number {
    return this.#texts.bytes;
  }

  get(hash: string): string | undefined {
    return this.#texts.get(hash);
  }

  /** @param hash the SHA-256 of the text */
  add(hash: string, text: string): void {
    if (text.length <= MAX_TEXT && this.#texts.peek(hash) === undefined) this.#texts.set(hash, text, 2 * text.length + ENTRY_OVERHEAD);
  }
}
