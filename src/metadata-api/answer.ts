/** Answers of operations. Rows pass through as the database printed them, because parsing and printing many of them takes long. */
import { type Bytes, bytesOfText } from '../util/bytes.ts';
import type { Json } from '../util/json.ts';
import { printInPieces } from '../util/print-in-pieces.ts';
import type { Cooperative } from '../util/cooperative.ts';

/** JSON in UTF-8. */
export class PrintedJson {
  readonly pieces: readonly Bytes[];

  constructor(pieces: readonly Bytes[]) {
    this.pieces = pieces;
  }
}

export type OperationAnswer = Json | PrintedJson;

/** Answer to a request: that of an operation, or one for each element of a bulk. */
export type CommandAnswer =
  | { readonly kind: 'one'; readonly answer: OperationAnswer }
  | { readonly kind: 'many'; readonly answers: readonly CommandAnswer[] };

const OPEN = bytesOfText('[');
const COMMA = bytesOfText(',');
const CLOSE = bytesOfText(']');

/** Prints the body of the response cooperatively. */
export function* printAnswer(answer: CommandAnswer): Cooperative<readonly Bytes[]> {
  if (answer.kind === 'one') {
    if (answer.answer instanceof PrintedJson) return answer.answer.pieces;
    const pieces: Bytes[] = [];
    for (const text of yield* printInPieces(answer.answer)) {
      pieces.push(bytesOfText(text));
      yield;
    }
    return pieces;
  }
  const pieces: Bytes[] = [OPEN];
  for (const [i, each] of answer.answers.entries()) {
    if (i > 0) pieces.push(COMMA);
    for (const piece of yield* printAnswer(each)) pieces.push(piece);
  }
  pieces.push(CLOSE);
  return pieces;
}
