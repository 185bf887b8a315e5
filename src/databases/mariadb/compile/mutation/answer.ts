/** Answers of mutations: JSON around cells that the source builds from rows. */
import type { ResultPiece } from '../../../../backend/backend.ts';
import type { FlowOutput } from '../../../../backend/statement-flow.ts';
import type { MutationOutput } from '../../../../ir/mutation.ts';
import type { Program } from './program.ts';

export interface WrittenRows {
  /** Statements that write the rows. */
  readonly writes: readonly number[];
  /** Statements that return the JSON of `returnedFields` from `cell` on, in order. */
  readonly reads: readonly number[];
  readonly cell: number;
}

/** @param index statement after which the answer is complete */
export function answer(
  program: Program,
  index: number,
  output: MutationOutput,
  { writes, reads, cell }: WrittenRows,
): readonly ResultPiece[] {
  const outputs: FlowOutput[] = [];
  const piece = (cell: FlowOutput): ResultPiece => ({ statement: index, column: outputs.push(cell) - 1, absent: 'null' });
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
  program.setOutputs(index, outputs);
  return pieces;
}
