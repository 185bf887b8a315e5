/**
 * Holes in answers. Where an object has a field that another source or server answers, the answer of the parent holds
 * `["<name>:<index of the join>", "key", …]`: a name of 128 random bits, new for every request, so that no data can
 * contain it and holes are found by a plain search. Only the keys are parsed; everything else stays the bytes it is.
 */
import { randomBytes } from 'node:crypto';
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

export function noJoinUse(): JoinUse {
  return { keys: 0, bytes: 0, written: 0 };
}

export const DEFAULT_JOIN_BOUNDS: JoinBounds = { maxKeys: 10_000, maxBytes: 256 * 1024 * 1024 };

/** @returns one answer per key, in order, which may hold holes again. @throws SvcError */
export type AskJoin = (step: JoinStep, keys: readonly Key[]) => Promise<readonly Bytes[]>;

export function newHoleName(): string {
  return randomBytes(16).toString('hex');
}

/** A hole as those write it who make JSON here. */
export function holeText(holeName: string, join: number, key: Key): string {
  return JSON.stringify([`${holeName}:${join}`, ...key]);
}

/** The answers to one join, by the bytes of a key as they stand in its holes. */
interface Asked {
  readonly step: JoinStep;
  readonly places: Map<string, number>;
  readonly keys: Key[];
  /** Where nothing is asked: the text that stands there. */
  readonly fixed: Map<number, Bytes>;
  /** Once it has been asked: the pieces per key. */
  answers: readonly (readonly Bytes[])[];
}

type Part = Bytes | { readonly asked: Asked; readonly place: number };

export class Holes {
  readonly #joins: readonly JoinStep[];
  readonly #name: string;
  readonly #ask: AskJoin;
  readonly #bounds: JoinBounds;
  readonly #use: JoinUse;

  constructor(joins: readonly JoinStep[], holeName: string, ask: AskJoin, bounds: JoinBounds) {
    this.#joins = joins;
    this.#name = holeName;
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
    const mark = `["${this.#name}:`;
    const parts: Part[] = [];
    let from = 0;
    for (let at = answer.indexOf(mark); at >= 0; at = answer.indexOf(mark, from)) {
      parts.push(sliceBytes(answer, from, at));
      const endOfIndex = answer.indexOf('"', at + mark.length);
      const end = endOfList(answer, endOfIndex + 1);
      const index = Number(answer.slice(at + mark.length, endOfIndex));
      parts.push(this.#placeOf(asked, index, sliceBytes(answer, endOfIndex + 1, end)));
      from = end;
    }
    parts.push(from === 0 ? answer : sliceBytes(answer, from));
    return parts;
  }

  /** @param rest of a hole, after the name: `, "1"]` */
  #placeOf(asked: Map<number, Asked>, index: number, rest: Bytes): Part {
    let join = asked.get(index);
    if (join === undefined) {
      const step = this.#joins[index];
      invariant(step !== undefined, 'holes name joins of their plan');
      join = { step, places: new Map(), keys: [], fixed: new Map(), answers: [] };
      asked.set(index, join);
    }
    let place = join.places.get(rest);
    if (place === undefined) {
      place = join.keys.length;
      const key = JSON.parse(`[""${textOfBytes([rest])}`) as readonly (string | null)[];
      join.places.set(rest, place);
      join.keys.push(key.slice(1));
      const { withoutKey } = join.step.target;
      if (withoutKey !== 'ask' && key.includes(null)) join.fixed.set(place, withoutKey as Bytes);
    }
    return { asked: join, place };
  }

  #joined(parts: readonly Part[], size: { bytes: number }): readonly Bytes[] {
    const pieces: Bytes[] = [];
    for (const part of parts) {
      const added = typeof part === 'string' ? [part] : (part.asked.answers[part.place] ?? []);
      for (const piece of added) {
        size.bytes += piece.length;
        pieces.push(piece);
      }
      if (size.bytes > this.#bounds.maxBytes) {
        throw new SvcError('unexpected', `the joined answers have more than ${this.#bounds.maxBytes} bytes`, { status: 400 });
      }
    }
    return pieces;
  }
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
    while (text.charCodeAt(quote - 1 - backslashes) === 92) backslashes += 1;
    if (backslashes % 2 === 0) return quote + 1;
    at = quote + 1;
  }
}
