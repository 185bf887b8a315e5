import type { CompiledMutation, CompilerOptions, Statement } from '../../../../backend/backend.ts';
import type { MutationRoot } from '../../../../ir/mutation.ts';
import type { SelectRoot } from '../../../../ir/select.ts';
import { compileMutation } from '../../../pg/compile/mutation/mutation.ts';
import { writingOf } from './writing.ts';

/** The statements of PostgreSQL, but for how rows are written, kept and answered from. @throws SvcError as the contract says */
export function compileMutations(
  options: CompilerOptions,
  select: (roots: readonly SelectRoot[]) => Statement,
  roots: readonly (SelectRoot | MutationRoot)[],
  once: boolean,
): CompiledMutation {
  return compileMutation({ writing: writingOf(options), select: (root) => select([root]) }, roots, once);
}
