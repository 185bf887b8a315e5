/** What operations answer. Rows go through as the database has printed them: nobody waits while many are read and printed again. */
import { type Bytes, bytesOfText } from '../util/bytes.ts';
import type { Json } from '../util/json.ts';
import { printInPieces } from '../util/print-in-pieces.ts';
import type { Sliced } from '../util/sliced.ts';

/** JSON that is printed already. */
export class PrintedJson {
  readonly pieces: readonly Bytes[];

  /** @param pieces its UTF-8 */
  constructor(pieces: readonly Bytes[]) {
    this.pieces = pieces;
  }
}

/** The answer of one operation. */
export type OperationAnswer = Json | PrintedJson;

/** The answer to a request: that of an operation, or one for each element of a bulk. */
export type CommandAnswer =
  | { readonly kind: 'one'; readonly answer: OperationAnswer }
  | { readonly kind: 'many'; readonly answers: readonly CommandAnswer[] };

const OPEN = bytesOfText('[');
const COMMA = bytesOfText(',');
const CLOSE = bytesOfText(']');

/** The body of the response, made with pauses. */
export function* printAnswer(answer: CommandAnswer): Sliced<readonly Bytes[]> {
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
