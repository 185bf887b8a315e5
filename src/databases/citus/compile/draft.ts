import type { CompilerOptions } from '../../../backend/backend.ts';
import { createContext } from '../../postgresql/compile/context.ts';
import { relatedConditionsIn } from './condition.ts';
import { COPY, type StatementDraft } from './context.ts';

/** @param copied whether its text is repeated in one statement */
export function createStatementDraft(options: CompilerOptions, copied = false): StatementDraft {
  const context = createContext(
    options,
    () => {
      throw new Error('invariant: related rows are relations of their own');
    },
    (number) => ({ kind: 'template', texts: [copied ? `"t${number}${COPY}"` : `"t${number}"`], values: [] }),
  );
  const draft: StatementDraft = { context, relations: [] };
  context.relatedConditions = relatedConditionsIn(draft);
  return draft;
}
