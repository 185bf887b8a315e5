import type { CompiledMutation, CompilerOptions } from '../../../../backend/backend.ts';
import { SvcError } from '../../../../errors/svc-error.ts';
import type { MutationRoot } from '../../../../ir/mutation.ts';
import type { SelectRoot } from '../../../../ir/select.ts';
import type { Context } from '../context.ts';

export function compileMutation(
  _createContext: (options: CompilerOptions) => Context,
  _options: CompilerOptions,
  _roots: readonly (SelectRoot | MutationRoot)[],
): CompiledMutation {
  throw new SvcError('not-supported', 'mutations are not supported');
}
