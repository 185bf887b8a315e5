/** Answers of mutations, as far as they are the same on any database. */
import type { MutationOutput, Update, UpdateMany } from '../../ir/mutation.ts';
import type { Field } from '../../ir/select.ts';
import type { ResultPiece } from '../../backend/backend.ts';

/** The fields whose JSON each written row has to give: a list of them for each place in the answer. */
export function returnedFields(output: MutationOutput): readonly (readonly Field[])[] {
  if (output.kind === 'row') return [output.fields];
  return output.fields.flatMap((field) => (field.kind === 'returning' ? [field.fields] : []));
}

/** The answer where nothing was to be done. */
export function emptyAnswer(output: MutationOutput): string {
  if (output.kind === 'row') return 'null';
  const entries = output.fields.map((field) => {
    const value = field.kind === 'typename' ? JSON.stringify(field.typeName) : field.kind === 'affected-rows' ? '0' : '[]';
    return `${JSON.stringify(field.alias)}:${value}`;
  });
  return `{${entries.join(',')}}`;
}

/** Whether the update changes nothing in any row. */
export function hasNothingToDo({ assignments, defaults = [] }: Update): boolean {
  return assignments.length === 0 && defaults.length === 0;
}

/** A list of answers, one per update; nothing at all where no update has anything to do. @param compile one of them */
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
