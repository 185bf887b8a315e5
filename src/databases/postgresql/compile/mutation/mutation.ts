/** Compiles the root fields of one transaction to statements and the places of their answers. */
import type { CompiledMutation, ResultPiece } from '../../../../backend/backend.ts';
import { manyAnswers } from '../../../shared/mutation-output.ts';
import type { MutationRoot } from '../../../../ir/mutation.ts';
import type { SelectRoot } from '../../../../ir/select.ts';
import { ROOT } from '../../../../util/path.ts';
import { compileInsert } from './insert-tree.ts';
import { Program, type WriteCompiler } from './program.ts';
import { compileDelete, compileUpdate } from './update.ts';
import type { Statement } from '../../../../backend/connection.ts';

export interface MutationCompiler {
  readonly writes: WriteCompiler;
  select(root: SelectRoot): Statement;
}

/** @param combinesRows see `Program` */
export function compileMutation(
  compiler: MutationCompiler,
  roots: readonly (SelectRoot | MutationRoot)[],
  combinesRows: boolean,
): CompiledMutation {
  const program = new Program(compiler.writes, combinesRows);
  const results = roots.map((root) => compileRoot(program, compiler, root));
  const { statements } = program;
  if (!program.hasCombined) return { statements, results };
  return { statements, results, fallback: () => compileMutation(compiler, roots, false) };
}

function compileRoot(program: Program, compiler: MutationCompiler, root: SelectRoot | MutationRoot): readonly ResultPiece[] {
  // The root calls a function that may write.
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
