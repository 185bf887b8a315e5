/** Writes introspection answers as JSON, in pieces and cooperatively, with an explicit stack instead of recursion. */
import { SvcError } from '../../errors/svc-error.ts';
import { type Bytes, bytesOfText } from '../../util/bytes.ts';
import { type NamedType, printType, type TypeRef } from '../types.ts';
import type { Shape } from './shape.ts';
import type { YieldTimer } from './yield-timer.ts';

interface ObjectFrame {
  readonly kind: 'object';
  readonly shape: Shape;
  readonly source: unknown;
  index: number;
}

interface ListFrame {
  readonly kind: 'list';
  readonly shape: Shape;
  readonly items: readonly unknown[];
  index: number;
}

type Frame = ObjectFrame | ListFrame;

const PIECES_PER_CHUNK = 4096;

/**
 * @param onReference called at least once for each type that the answer refers to
 * @throws SvcError if the answer has more than `maxCharacters`
 */
export async function writeIntrospection(
  shape: Shape,
  source: unknown,
  timer: YieldTimer,
  maxCharacters: number,
  onReference: (name: string, type: () => NamedType) => void = () => undefined,
): Promise<readonly Bytes[]> {
  const writer = new Writer(shape, source, onReference);
  // Chunks are joined as they fill, so that no single step has to join millions of pieces.
  const chunks: Bytes[] = [];
  let characters = 0;
  for (let steps = 1; writer.step(); steps++) {
    if (writer.pieces.length >= PIECES_PER_CHUNK) {
      const chunk = writer.take();
      characters += chunk.length;
      if (characters > maxCharacters)
        throw new SvcError('validation-failed', `the introspection answer has more than ${maxCharacters} characters`);
      chunks.push(bytesOfText(chunk));
    }
    if (steps % 64 === 0 && timer.due()) await timer.yield();
  }
  chunks.push(bytesOfText(writer.take()));
  return chunks;
}

class Writer {
  pieces: string[] = [];
  readonly #stack: Frame[];
  readonly #references = new Map<Shape, Map<string, string>>();
  readonly #onReference: (name: string, type: () => NamedType) => void;

  constructor(shape: Shape, source: unknown, onReference: (name: string, type: () => NamedType) => void) {
    this.#stack = [{ kind: 'object', shape, source, index: 0 }];
    this.#onReference = onReference;
  }

  /** Returns the text since the previous call. */
  take(): string {
    const text = this.pieces.join('');
    this.pieces = [];
    return text;
  }

  /** Writes one field of an object or one item of a list. Returns false if nothing is left. */
  step(): boolean {
    const frame = this.#stack.at(-1);
    if (frame === undefined) return false;
    if (frame.kind === 'list') this.#item(frame);
    else this.#field(frame);
    return true;
  }

  #item(frame: ListFrame): void {
    const first = frame.index === 0;
    if (frame.index === frame.items.length) {
      this.pieces.push(first ? '[]' : ']');
      this.#stack.pop();
      return;
    }
    this.pieces.push(first ? '[' : ',');
    this.#open(frame.shape, frame.items[frame.index++]);
  }

  #field(frame: ObjectFrame): void {
    const first = frame.index === 0;
    const field = frame.shape.fields[frame.index++];
    if (field === undefined) {
      this.pieces.push(first ? '{}' : '}');
      this.#stack.pop();
      return;
    }
    this.pieces.push(first ? '{' : ',', field.prefix);
    const { read } = field;
    if (read.kind === 'text') this.pieces.push(read.read(frame.source));
    else if (read.kind === 'object') {
      const value = read.read(frame.source);
      if (value === null) this.pieces.push('null');
      else this.#open(field.shape as Shape, value);
    } else {
      const items = read.read(frame.source);
      if (items === null) this.pieces.push('null');
      else this.#stack.push({ kind: 'list', shape: field.shape as Shape, items, index: 0 });
    }
  }

  #open(shape: Shape, value: unknown): void {
    if (shape.ofReference) this.pieces.push(referenceText(this.#references, shape, value as TypeRef, this.#onReference));
    else this.#stack.push({ kind: 'object', shape, source: value, index: 0 });
  }
}

/** Writes each reference once per shape: most positions have one of a few references. */
function referenceText(
  known: Map<Shape, Map<string, string>>,
  shape: Shape,
  ref: TypeRef,
  onReference: (name: string, type: () => NamedType) => void,
): string {
  let texts = known.get(shape);
  if (texts === undefined) {
    texts = new Map();
    known.set(shape, texts);
  }
  const name = printType(ref);
  let text = texts.get(name);
  if (text === undefined) {
    text = writeReference(shape, ref);
    const named = namedRef(ref);
    onReference(named.name, named.type);
    texts.set(name, text);
  }
  return text;
}

function namedRef(ref: TypeRef): Extract<TypeRef, { kind: 'named' }> {
  return ref.kind === 'list' ? namedRef(ref.item) : ref;
}

/** The depth of the selection limits the recursion. */
function writeReference(shape: Shape, ref: TypeRef): string {
  const fields = shape.fields.map(({ prefix, read, shape: inner }) => {
    if (read.kind === 'text') return prefix + read.read(ref);
    const value = read.read(ref) as TypeRef | null;
    return prefix + (value === null || inner === null ? 'null' : writeReference(inner, value));
  });
  return `{${fields.join()}}`;
}
