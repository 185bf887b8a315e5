/** Root fields of one transaction: statements in order, and where each field's answer comes from. */
import type { CompiledMutation, ResultPiece } from '../../../../backend/backend.ts';
import { manyAnswers } from '../../../shared/mutation-output.ts';
import type { MutationRoot } from '../../../../ir/mutation.ts';
import type { SelectRoot } from '../../../../ir/select.ts';
import { ROOT } from '../../../../util/path.ts';
import { compileInsert } from './insert-tree.ts';
import { Program, type Writing } from './program.ts';
import { compileDelete, compileUpdate } from './update.ts';
import type { Statement } from '../../../../backend/connection.ts';

export interface MutationCompiler {
  readonly writing: Writing;
  select(root: SelectRoot): Statement;
}

/** @param unites see `Program` */
export function compileMutation(
  compiler: MutationCompiler,
  roots: readonly (SelectRoot | MutationRoot)[],
  unites: boolean,
): CompiledMutation {
  const program = new Program(compiler.writing, unites);
  const results = roots.map((root) => compileRoot(program, compiler, root));
  const { statements } = program;
  if (!program.hasUnited) return { statements, results };
  return { statements, results, apart: () => compileMutation(compiler, roots, false) };
}

function compileRoot(program: Program, compiler: MutationCompiler, root: SelectRoot | MutationRoot): readonly ResultPiece[] {
  // A function that may write.
  if (root.mutation === undefined) {
    const statement = program.addStatement({ ...compiler.select(root), repeatable: false }, ROOT);
    return [{ statement, column: 0, absent: 'null' }];
  }
  const { mutation } = root;
  switch (mutation.kind) {
    case 'insert':
      return compileInsert(program, mutation);
    case 'update':
      return compileUpdate(program, mutation);
    case 'update-many':
      return manyAnswers(mutation, (update) => compileUpdate(program, update));
    case 'delete':
      return compileDelete(program, mutation);
  }
}
