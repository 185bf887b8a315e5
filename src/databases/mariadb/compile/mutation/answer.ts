/** What a mutation answers with, as pieces around cells that the source puts together from rows. */
import type { ResultPiece } from '../../../../backend/backend.ts';
import type { GivenCell } from '../../../../backend/statement-flow.ts';
import type { MutationOutput } from '../../../../ir/mutation.ts';
import type { Program } from './program.ts';

export interface WrittenRows {
  /** Statements that write. */
  readonly writes: readonly number[];
  /** Statements whose rows have the JSON of `returnedFields`, from `cell` on, in the order of the answer. */
  readonly reads: readonly number[];
  readonly cell: number;
}

/** @param index the statement behind which the answer is there. @returns the JSON of the answer */
export function answer(
  program: Program,
  index: number,
  output: MutationOutput,
  { writes, reads, cell }: WrittenRows,
): readonly ResultPiece[] {
  const gives: GivenCell[] = [];
  const piece = (cell: GivenCell): ResultPiece => ({ statement: index, column: gives.push(cell) - 1, absent: 'null' });
  const pieces: ResultPiece[] = [];
  if (output.kind === 'row') pieces.push(piece({ kind: 'first', statements: reads, cell }));
  else {
    let next = cell;
    output.fields.forEach((field, i) => {
      pieces.push(`${i === 0 ? '{' : ','}${JSON.stringify(field.alias)}:`);
      if (field.kind === 'typename') pieces.push(JSON.stringify(field.typeName));
      else if (field.kind === 'affected-rows') pieces.push(piece({ kind: 'count', statements: writes }));
      else pieces.push(piece({ kind: 'list', statements: reads, cell: next++ }));
    });
    pieces.push(output.fields.length === 0 ? '{}' : '}');
  }
  program.give(index, gives);
  return pieces;
}
