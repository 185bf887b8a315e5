/** Parts of the answers of mutations that do not depend on the database. */
import type { MutationOutput, Update, UpdateMany } from '../../ir/mutation.ts';
import type { Field } from '../../ir/select.ts';
import type { ResultPiece } from '../../backend/backend.ts';

/** Returns the fields of the JSON of written rows, a list for each place in the answer. */
export function returnedFields(output: MutationOutput): readonly (readonly Field[])[] {
  if (output.kind === 'row') return [output.fields];
  return output.fields.flatMap((field) => (field.kind === 'returning' ? [field.fields] : []));
}

/** Returns the answer of a mutation that changes nothing. */
export function emptyAnswer(output: MutationOutput): string {
  if (output.kind === 'row') return 'null';
  const entries = output.fields.map((field) => {
    const value = field.kind === 'typename' ? JSON.stringify(field.typeName) : field.kind === 'affected-rows' ? '0' : '[]';
    return `${JSON.stringify(field.alias)}:${value}`;
  });
  return `{${entries.join(',')}}`;
}

/** Returns whether an update assigns no column. */
export function hasNothingToDo({ assignments, defaults = [] }: Update): boolean {
  return assignments.length === 0 && defaults.length === 0;
}

/** Returns the list of the answers of several updates; empty if none assigns a column. @param compile compiles one answer */
export function manyAnswers({ updates }: UpdateMany, compile: (update: Update) => readonly ResultPiece[]): readonly ResultPiece[] {
  if (updates.every(hasNothingToDo)) return ['[]'];
  const pieces: ResultPiece[] = ['['];
  updates.forEach((update, i) => {
    if (i > 0) pieces.push(',');
    pieces.push(...compile(update));
  });
  pieces.push(']');
  return pieces;
}
