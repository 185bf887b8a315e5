import type { CompiledMutation, CompilerOptions, Statement } from '../../../../backend/backend.ts';
import { SvcError } from '../../../../errors/svc-error.ts';
import type { MutationRoot } from '../../../../ir/mutation.ts';
import type { SelectRoot } from '../../../../ir/select.ts';

export function compileMutations(
  _options: CompilerOptions,
  _select: (roots: readonly SelectRoot[]) => Statement,
  _roots: readonly (SelectRoot | MutationRoot)[],
  _once: boolean,
): CompiledMutation {
  throw new SvcError('not-supported', 'sources of Citus cannot be written to');
}
