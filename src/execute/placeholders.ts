/**
 * Placeholders for joined fields. Where another source or server provides a field, the parent's result has
 * `"<name>:<index of the join>;<key>"`, without the semicolon for a null key, or `["<name>:<index>", "key", …]` for a key of any number
 * of parts. The name has 128 random bits and is new for every request, so that no data can contain it and a plain text search finds the
 * placeholders. Only the keys are parsed; all other bytes stay as they are.
 */
import { randomFillSync } from 'node:crypto';
import { invariant, SvcError } from '../errors/svc-error.ts';
import type { JoinStep } from '../plan/plan.ts';
import { type Bytes, sliceBytes, textOfBytes } from '../util/bytes.ts';

export type Key = readonly (string | null)[];

/** Limits of the joins of a request. */
export interface JoinBounds {
  /** Maximum number of distinct keys of all joins. */
  readonly maxKeys: number;
  /** Maximum size of the response once all placeholders are filled, in bytes. */
  readonly maxBytes: number;
  /** Running totals of the request, over all its operations. */
  readonly usage?: JoinUsage;
}

export interface JoinUsage {
  keys: number;
  bytes: number;
  /** Bytes printed from the responses of servers and handlers (`AnswerText`). */
  written: number;
}

/** Returns totals for a new request. */
export function noJoinUsage(): JoinUsage {
  return { keys: 0, bytes: 0, written: 0 };
}

export const DEFAULT_JOIN_BOUNDS: JoinBounds = { maxKeys: 10_000, maxBytes: 256 * 1024 * 1024 };

/** Fetches the results of a join: one per key, in order. They may contain placeholders. @throws SvcError */
export type JoinRunner = (step: JoinStep, keys: readonly Key[]) => Promise<readonly Bytes[]>;

/** Length of the random part of names. */
const NAME_BYTES = 16;
/** Pool of random bytes: 256 names per call of the generator. */
const random = Buffer.alloc(256 * NAME_BYTES);
let used = random.length;

export function newPlaceholderName(): string {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  const name = random.toString('base64url', used, used + NAME_BYTES);
  used += NAME_BYTES;
  return name;
}

/** Prints a placeholder for JSON that the service itself prints. */
export function placeholderText(placeholderName: string, join: number, key: Key): string {
  const [part, ...more] = key;
  if (part === undefined || more.length > 0) return JSON.stringify([`${placeholderName}:${join}`, ...key]);
  return part === null ? `"${placeholderName}:${join}"` : JSON.stringify(`${placeholderName}:${join};${part}`);
}

/** One join of the results: its distinct keys, and their results once fetched. */
interface PendingJoin {
  readonly step: JoinStep;
  /** Values by the bytes of the key in a placeholder. */
  readonly values: Map<string, JoinedValue>;
  readonly keys: Key[];
  /** Results of keys that need no request, by the index of the key. */
  readonly fixed: Map<number, Bytes>;
  /** Pieces of the result per key, once fetched. */
  results: readonly (readonly Bytes[])[];
}

/** The result for one key. */
interface JoinedValue {
  readonly join: PendingJoin;
  /** Index among its keys. */
  readonly index: number;
}

type Part = Bytes | JoinedValue;

export class PlaceholderFiller {
  readonly #joins: readonly JoinStep[];
  /** Start of every placeholder, after the bracket of those that are lists. */
  readonly #prefix: string;
  readonly #runJoin: JoinRunner;
  readonly #bounds: JoinBounds;
  readonly #usage: JoinUsage;

  constructor(joins: readonly JoinStep[], placeholderName: string, runJoin: JoinRunner, bounds: JoinBounds) {
    this.#joins = joins;
    this.#prefix = `"${placeholderName}:`;
    this.#runJoin = runJoin;
    this.#bounds = bounds;
    this.#usage = bounds.usage ?? noJoinUsage();
  }

  /**
   * Fills the placeholders of several results. Each join runs once for all of them, joins of one level concurrently; then the results of
   * the joins are filled in the same way.
   * @returns the pieces of each result. @throws SvcError of the first join that failed
   */
  async fill(results: readonly Bytes[]): Promise<readonly (readonly Bytes[])[]> {
    const size = { bytes: this.#usage.bytes };
    const filled = await this.#fill(results, size);
    this.#usage.bytes = size.bytes;
    return filled;
  }

  async #fill(results: readonly Bytes[], size: { bytes: number }): Promise<readonly (readonly Bytes[])[]> {
    const pending = new Map<number, PendingJoin>();
    const split = results.map((result) => this.#partsOf(result, pending));
    await Promise.all(
      [...pending.values()].map(async (join) => {
        join.results = await this.#fill(await this.#resultsOf(join), { bytes: this.#usage.bytes });
      }),
    );
    return split.map((parts) => this.#joined(parts, size));
  }

  async #resultsOf({ step, keys, fixed }: PendingJoin): Promise<readonly Bytes[]> {
    const open = keys.filter((_, index) => !fixed.has(index));
    this.#usage.keys += open.length;
    if (this.#usage.keys > this.#bounds.maxKeys) {
      const message = `the answer needs more than ${this.#bounds.maxKeys} different keys of other sources`;
      throw new SvcError('validation-failed', message, { path: step.path });
    }
    const results = open.length === 0 ? [] : await this.#runJoin(step, open);
    invariant(results.length === open.length, 'a join has a result for every key');
    let next = 0;
    return keys.map((_, index) => fixed.get(index) ?? (results[next++] as Bytes));
  }

  #partsOf(result: Bytes, pending: Map<number, PendingJoin>): readonly Part[] {
    const prefix = this.#prefix;
    const parts: Part[] = [];
    let from = 0;
    for (let at = result.indexOf(prefix); at >= 0; at = result.indexOf(prefix, from)) {
      let next = at + prefix.length;
      let index = 0;
      let code = result.charCodeAt(next);
      for (; code >= ZERO && code <= NINE; code = result.charCodeAt(++next)) index = 10 * index + code - ZERO;
      const join = pending.get(index) ?? this.#pendingJoin(pending, index);
      if (result.charCodeAt(at - 1) === OPEN_LIST) {
        // `["name:1", "5"]`
        parts.push(sliceBytes(result, from, at - 1));
        from = endOfList(result, next + 1);
        const rest = sliceBytes(result, next + 1, from);
        parts.push(join.values.get(rest) ?? newValue(join, rest, listOf(rest)));
      } else {
        parts.push(sliceBytes(result, from, at));
        from = code === SEMICOLON ? endOfString(result, next + 1) : next + 1;
        // `"name:1;5"`; a null key is stored as a quote, which no key starts with.
        const rest = code === SEMICOLON ? sliceBytes(result, next + 1, from - 1) : (NO_KEY as Bytes);
        parts.push(join.values.get(rest) ?? newValue(join, rest, [code === SEMICOLON ? stringOf(rest) : null]));
      }
    }
    parts.push(from === 0 ? result : sliceBytes(result, from));
    return parts;
  }

  #pendingJoin(pending: Map<number, PendingJoin>, index: number): PendingJoin {
    const step = this.#joins[index];
    invariant(step !== undefined, 'placeholders name joins of their plan');
    const join: PendingJoin = { step, values: new Map(), keys: [], fixed: new Map(), results: [] };
    pending.set(index, join);
    return join;
  }

  #joined(parts: readonly Part[], size: { bytes: number }): readonly Bytes[] {
    const pieces = new Pieces();
    for (const part of parts) {
      if (typeof part === 'string') size.bytes += pieces.add(part);
      else for (const piece of part.join.results[part.index] ?? []) size.bytes += pieces.add(piece);
      checkJoined(size.bytes, this.#bounds);
    }
    return pieces.take();
  }
}

/** @throws SvcError */
export function checkJoined(bytes: number, { maxBytes }: JoinBounds): void {
  if (bytes > maxBytes) throw new SvcError('unexpected', `the joined answers exceed ${maxBytes} bytes`, { status: 400 });
}

/** Shorter pieces are concatenated: each piece costs time on its whole way to the socket. */
const SMALL_PIECE = 16_384;
const PIECE = 65_536;

class Pieces {
  readonly #done: Bytes[] = [];
  #small: Bytes[] = [];
  #size = 0;

  /** Returns the length of the piece. */
  add(piece: Bytes): number {
    const { length } = piece;
    if (length >= SMALL_PIECE) {
      this.#close();
      this.#done.push(piece);
      return length;
    }
    this.#small.push(piece);
    this.#size += length;
    if (this.#size >= PIECE) this.#close();
    return length;
  }

  take(): readonly Bytes[] {
    this.#close();
    return this.#done;
  }

  #close(): void {
    const [first] = this.#small;
    if (first === undefined) return;
    this.#done.push(this.#small.length === 1 ? first : (this.#small.join('') as Bytes));
    this.#small = [];
    this.#size = 0;
  }
}

const ZERO = 48;
const NINE = 57;
const SEMICOLON = 59;
const OPEN_LIST = 91;
const BACKSLASH = 92;
const LAST_ASCII = 127;
/** Stands for the null key in `values`. */
const NO_KEY = '"';

function newValue(join: PendingJoin, rest: Bytes, key: Key): JoinedValue {
  const value = { join, index: join.keys.length };
  join.values.set(rest, value);
  join.keys.push(key);
  const { withoutKey } = join.step.target;
  if (withoutKey !== 'ask' && key.includes(null)) join.fixed.set(value.index, withoutKey as Bytes);
  return value;
}

/** @param rest of a list after its first item, e.g. `, "1"]` */
function listOf(rest: Bytes): Key {
  return (JSON.parse(`[""${textOfBytes([rest])}`) as Key).slice(1);
}

/** @param inside the text between the quotes of a JSON string */
function stringOf(inside: Bytes): string {
  for (let i = 0; i < inside.length; i++) {
    const code = inside.charCodeAt(i);
    if (code === BACKSLASH || code > LAST_ASCII) return JSON.parse(`"${textOfBytes([inside])}"`) as string;
  }
  return inside;
}

/** Returns the index after the `]` that ends a list of strings and nulls. */
function endOfList(text: Bytes, from: number): number {
  let at = from;
  for (;;) {
    const quote = text.indexOf('"', at);
    const close = text.indexOf(']', at);
    invariant(close >= 0, 'a placeholder ends');
    if (quote < 0 || close < quote) return close + 1;
    at = endOfString(text, quote + 1);
  }
}

/** Returns the index after the quote that ends a string. */
function endOfString(text: Bytes, from: number): number {
  for (let at = from; ; ) {
    const quote = text.indexOf('"', at);
    invariant(quote >= 0, 'a string ends');
    let backslashes = 0;
    while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}
