/**
 * Holes in answers. Where an object has a field that another source or server answers, the answer of the parent holds
 * `"<name>:<index of the join>;<key>"`, without the semicolon for a null key, or `["<name>:<index>", "key", …]` for a key of
 * any number of parts: a name of 128 random bits, new for every request, so that no data can contain it and holes are found
 * by a plain search. Only the keys are parsed; everything else stays the bytes it is.
 */
import { randomFillSync } from 'node:crypto';
import { invariant, SvcError } from '../errors/svc-error.ts';
import type { JoinStep } from '../plan/plan.ts';
import { type Bytes, sliceBytes, textOfBytes } from '../util/bytes.ts';

export type Key = readonly (string | null)[];

/** What the answers to the keys of a join may take. */
export interface JoinBounds {
  /** Distinct keys of all joins of a request. */
  readonly maxKeys: number;
  /** Bytes of a response once everything is in its place. */
  readonly maxBytes: number;
  /** What other operations of the request have taken of both; it grows. */
  readonly use?: JoinUse;
}

export interface JoinUse {
  keys: number;
  bytes: number;
  /** Bytes that were printed of the answers of servers and handlers (`AnswerText`). */
  written: number;
}

/** What joins have taken before any was run. */
export function noJoinUse(): JoinUse {
  return { keys: 0, bytes: 0, written: 0 };
}

export const DEFAULT_JOIN_BOUNDS: JoinBounds = { maxKeys: 10_000, maxBytes: 256 * 1024 * 1024 };

/** @returns one answer per key, in order, which may hold holes again. @throws SvcError */
export type AskJoin = (step: JoinStep, keys: readonly Key[]) => Promise<readonly Bytes[]>;

/** A name that no data can have by chance or guess. */
const NAME_BYTES = 16;
/** Made for many names at a time, and used once. */
const random = Buffer.alloc(256 * NAME_BYTES);
let used = random.length;

export function newHoleName(): string {
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  const name = random.toString('base64url', used, used + NAME_BYTES);
  used += NAME_BYTES;
  return name;
}

/** A hole as those write it who make JSON here. */
export function holeText(holeName: string, join: number, key: Key): string {
  const [part, ...more] = key;
  if (part === undefined || more.length > 0) return JSON.stringify([`${holeName}:${join}`, ...key]);
  return part === null ? `"${holeName}:${join}"` : JSON.stringify(`${holeName}:${join};${part}`);
}

/** The answers to one join, by the bytes of a key as they stand in its holes. */
interface Asked {
  readonly step: JoinStep;
  readonly places: Map<string, Place>;
  readonly keys: Key[];
  /** Where nothing is asked: the text that stands there. */
  readonly fixed: Map<number, Bytes>;
  /** Once it has been asked: the pieces per key. */
  answers: readonly (readonly Bytes[])[];
}

/** Where a part of an answer comes from. */
interface Place {
  readonly asked: Asked;
  /** Among its keys. */
  readonly index: number;
}

type Part = Bytes | Place;

export class Holes {
  readonly #joins: readonly JoinStep[];
  /** What holes begin with, but for the bracket of those that are lists. */
  readonly #mark: string;
  readonly #ask: AskJoin;
  readonly #bounds: JoinBounds;
  readonly #use: JoinUse;

  constructor(joins: readonly JoinStep[], holeName: string, ask: AskJoin, bounds: JoinBounds) {
    this.#joins = joins;
    this.#mark = `"${holeName}:`;
    this.#ask = ask;
    this.#bounds = bounds;
    this.#use = bounds.use ?? noJoinUse();
  }

  /**
   * Fills the holes of several answers: each join is asked once for all of them, joins beside one another at the same
   * time, and then the answers of a join are filled in the same way.
   * @returns the pieces of each answer. @throws SvcError of the first join that failed
   */
  async fill(answers: readonly Bytes[]): Promise<readonly (readonly Bytes[])[]> {
    const size = { bytes: this.#use.bytes };
    const filled = await this.#fill(answers, size);
    this.#use.bytes = size.bytes;
    return filled;
  }

  async #fill(answers: readonly Bytes[], size: { bytes: number }): Promise<readonly (readonly Bytes[])[]> {
    const asked = new Map<number, Asked>();
    const parted = answers.map((answer) => this.#partsOf(answer, asked));
    await Promise.all(
      [...asked.values()].map(async (join) => {
        join.answers = await this.#fill(await this.#answersOf(join), { bytes: this.#use.bytes });
      }),
    );
    return parted.map((parts) => this.#joined(parts, size));
  }

  async #answersOf({ step, keys, fixed }: Asked): Promise<readonly Bytes[]> {
    const wanted = keys.filter((_, place) => !fixed.has(place));
    this.#use.keys += wanted.length;
    if (this.#use.keys > this.#bounds.maxKeys) {
      const message = `the answer needs more than ${this.#bounds.maxKeys} different keys of other sources`;
      throw new SvcError('validation-failed', message, { path: step.path });
    }
    const answers = wanted.length === 0 ? [] : await this.#ask(step, wanted);
    invariant(answers.length === wanted.length, 'a join answers every key');
    let next = 0;
    return keys.map((_, place) => fixed.get(place) ?? (answers[next++] as Bytes));
  }

  #partsOf(answer: Bytes, asked: Map<number, Asked>): readonly Part[] {
    const mark = this.#mark;
    const parts: Part[] = [];
    let from = 0;
    for (let at = answer.indexOf(mark); at >= 0; at = answer.indexOf(mark, from)) {
      let next = at + mark.length;
      let index = 0;
      let code = answer.charCodeAt(next);
      for (; code >= ZERO && code <= NINE; code = answer.charCodeAt(++next)) index = 10 * index + code - ZERO;
      const join = asked.get(index) ?? this.#begun(asked, index);
      if (answer.charCodeAt(at - 1) === OPEN_LIST) {
        // `["name:1", "5"]`
        parts.push(sliceBytes(answer, from, at - 1));
        from = endOfList(answer, next + 1);
        const rest = sliceBytes(answer, next + 1, from);
        parts.push(join.places.get(rest) ?? newPlace(join, rest, listOf(rest)));
      } else {
        parts.push(sliceBytes(answer, from, at));
        from = code === SEMICOLON ? endOfString(answer, next + 1) : next + 1;
        // `"name:1;5"`, and without a key the quote, which no key has.
        const rest = code === SEMICOLON ? sliceBytes(answer, next + 1, from - 1) : (NO_KEY as Bytes);
        parts.push(join.places.get(rest) ?? newPlace(join, rest, [code === SEMICOLON ? stringOf(rest) : null]));
      }
    }
    parts.push(from === 0 ? answer : sliceBytes(answer, from));
    return parts;
  }

  #begun(asked: Map<number, Asked>, index: number): Asked {
    const step = this.#joins[index];
    invariant(step !== undefined, 'holes name joins of their plan');
    const join: Asked = { step, places: new Map(), keys: [], fixed: new Map(), answers: [] };
    asked.set(index, join);
    return join;
  }

  #joined(parts: readonly Part[], size: { bytes: number }): readonly Bytes[] {
    const pieces = new Pieces();
    for (const part of parts) {
      if (typeof part === 'string') size.bytes += pieces.add(part);
      else for (const piece of part.asked.answers[part.index] ?? []) size.bytes += pieces.add(piece);
      checkJoined(size.bytes, this.#bounds);
    }
    return pieces.take();
  }
}

/** @throws SvcError */
export function checkJoined(bytes: number, { maxBytes }: JoinBounds): void {
  if (bytes > maxBytes) throw new SvcError('unexpected', `the joined answers have more than ${maxBytes} bytes`, { status: 400 });
}

/** Shorter pieces are put together: what takes time is their number, in all that is done with them up to the socket. */
const SMALL_PIECE = 16_384;
const PIECE = 65_536;

class Pieces {
  readonly #done: Bytes[] = [];
  #small: Bytes[] = [];
  #size = 0;

  /** @returns its length */
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
/** In `places`. */
const NO_KEY = '"';

function newPlace(asked: Asked, rest: Bytes, key: Key): Place {
  const place = { asked, index: asked.keys.length };
  asked.places.set(rest, place);
  asked.keys.push(key);
  const { withoutKey } = asked.step.target;
  if (withoutKey !== 'ask' && key.includes(null)) asked.fixed.set(place.index, withoutKey as Bytes);
  return place;
}

/** @param rest of a list after its first item: `, "1"]` */
function listOf(rest: Bytes): Key {
  return (JSON.parse(`[""${textOfBytes([rest])}`) as Key).slice(1);
}

/** @param inside what stands between the quotes of a JSON string */
function stringOf(inside: Bytes): string {
  for (let i = 0; i < inside.length; i++) {
    const code = inside.charCodeAt(i);
    if (code === BACKSLASH || code > LAST_ASCII) return JSON.parse(`"${textOfBytes([inside])}"`) as string;
  }
  return inside;
}

/** The index behind the `]` that ends a list of strings and nulls. */
function endOfList(text: Bytes, from: number): number {
  let at = from;
  for (;;) {
    const quote = text.indexOf('"', at);
    const close = text.indexOf(']', at);
    invariant(close >= 0, 'a hole ends');
    if (quote < 0 || close < quote) return close + 1;
    at = endOfString(text, quote + 1);
  }
}

/** The index behind the quote that ends a string. */
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
