import type { CompiledMutation, CompilerOptions } from '../../../../backend/backend.ts';
import type { MutationRoot } from '../../../../ir/mutation.ts';
import type { SelectRoot } from '../../../../ir/select.ts';
import { compileMutation } from '../../../postgresql/compile/mutation/mutation.ts';
import { writingOf } from './writing.ts';
import type { Statement } from '../../../../backend/connection.ts';

/** The statements of PostgreSQL, but for how rows are written, kept and answered from. @throws SvcError as the contract says */
export function compileMutations(
  options: CompilerOptions,
  select: (roots: readonly SelectRoot[]) => Statement,
  roots: readonly (SelectRoot | MutationRoot)[],
  once: boolean,
): CompiledMutation {
  return compileMutation({ writing: writingOf(options), select: (root) => select([root]) }, roots, once);
}
