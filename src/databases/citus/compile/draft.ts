import type { CompilerOptions } from '../../../backend/backend.ts';
import { createContext } from '../../postgresql/compile/context.ts';
import { elsewhereIn } from './condition.ts';
import { COPY, type Draft } from './context.ts';

/** @param copied whether its text is written several times in one statement */
export function createDraft(options: CompilerOptions, copied = false): Draft {
  const context = createContext(
    options,
    () => {
      throw new Error('invariant: related rows are relations of their own');
    },
    (number) => ({ kind: 'template', texts: [copied ? `"t${number}${COPY}"` : `"t${number}"`], values: [] }),
  );
  const draft: Draft = { context, relations: [] };
  context.elsewhere = elsewhereIn(draft);
  return draft;
}
