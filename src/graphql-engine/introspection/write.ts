/** Writes introspection answers as JSON, in pieces and cooperatively, with an explicit stack instead of recursion. */
import { SvcError } from '../../errors/svc-error.ts';
import { type Bytes, bytesOfText } from '../../util/bytes.ts';
import { type NamedType, printType, type TypeRef } from '../types.ts';
import type { Shape } from './shape.ts';
import type { YieldTimer } from './yield-timer.ts';

type Frame =
  | { readonly kind: 'object'; readonly shape: Shape; readonly source: unknown; index: number }
  | { readonly kind: 'list'; readonly shape: Shape; readonly items: readonly unknown[]; index: number };

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
  // Chunks are joined as they fill, so that no single step has to join millions of pieces.
  const chunks: Bytes[] = [];
  let pieces: string[] = [];
  let characters = 0;
  const references = new Map<Shape, Map<string, string>>();
  const stack: Frame[] = [{ kind: 'object', shape, source, index: 0 }];

  const open = (inner: Shape, value: unknown): void => {
    if (inner.ofReference) pieces.push(referenceText(references, inner, value as TypeRef, onReference));
    else stack.push({ kind: 'object', shape: inner, source: value, index: 0 });
  };
  /** Writes one field of an object or one item of a list. */
  const step = (frame: Frame): void => {
    const first = frame.index === 0;
    if (frame.kind === 'list') {
      if (frame.index === frame.items.length) {
        pieces.push(first ? '[]' : ']');
        stack.pop();
        return;
      }
      pieces.push(first ? '[' : ',');
      open(frame.shape, frame.items[frame.index++]);
      return;
    }
    const field = frame.shape.fields[frame.index++];
    if (field === undefined) {
      pieces.push(first ? '{}' : '}');
      stack.pop();
      return;
    }
    pieces.push(first ? '{' : ',', field.prefix);
    const { read } = field;
    if (read.kind === 'text') pieces.push(read.read(frame.source));
    else if (read.kind === 'object') {
      const value = read.read(frame.source);
      if (value === null) pieces.push('null');
      else open(field.shape as Shape, value);
    } else {
      const items = read.read(frame.source);
      if (items === null) pieces.push('null');
      else stack.push({ kind: 'list', shape: field.shape as Shape, items, index: 0 });
    }
  };

  let steps = 0;
  for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
    step(frame);
    steps += 1;
    if (pieces.length >= PIECES_PER_CHUNK) {
      const chunk = pieces.join('');
      characters += chunk.length;
      if (characters > maxCharacters)
        throw new SvcError('validation-failed', `the introspection answer has more than ${maxCharacters} characters`);
      chunks.push(bytesOfText(chunk));
      pieces = [];
    }
    if (steps % 64 === 0 && timer.due()) await timer.yield();
  }
  chunks.push(bytesOfText(pieces.join('')));
  return chunks;
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
