/** Compiles the root fields of one transaction to statements in order, and their answers. */
import type { CompiledMutation, CompilerOptions, ResultPiece } from '../../../../backend/backend.ts';
import { manyAnswers } from '../../../shared/mutation-output.ts';
import { SvcError } from '../../../../errors/svc-error.ts';
import type { MutationRoot } from '../../../../ir/mutation.ts';
import type { SelectRoot } from '../../../../ir/select.ts';
import { compileInsert } from './insert.ts';
import { Program } from './program.ts';
import { compileDelete, compileUpdate } from './update.ts';

/** @throws SvcError not-supported, validation-failed */
export function compileMutation(options: CompilerOptions, roots: readonly (SelectRoot | MutationRoot)[]): CompiledMutation {
  const program = new Program(options);
  const results = roots.map((root) => compileRoot(program, root));
  return { statements: program.statements, results };
}

function compileRoot(program: Program, { mutation }: SelectRoot | MutationRoot): readonly ResultPiece[] {
  switch (mutation?.kind) {
    case undefined:
      throw new SvcError('not-supported', 'functions of MariaDB cannot be called');
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
