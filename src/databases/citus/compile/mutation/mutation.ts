import type { CompiledMutation, CompilerOptions } from '../../../../backend/backend.ts';
import type { MutationRoot } from '../../../../ir/mutation.ts';
import type { SelectRoot } from '../../../../ir/select.ts';
import { compileMutation } from '../../../postgresql/compile/mutation/mutation.ts';
import { writeCompilerOf } from './write-compiler.ts';
import type { Statement } from '../../../../backend/connection.ts';

/** Compiles mutations like PostgreSQL, with another compiler of writes. @throws SvcError as in the contract */
export function compileMutations(
  options: CompilerOptions,
  select: (roots: readonly SelectRoot[]) => Statement,
  roots: readonly (SelectRoot | MutationRoot)[],
  once: boolean,
): CompiledMutation {
  return compileMutation({ writes: writeCompilerOf(options), select: (root) => select([root]) }, roots, once);
}
