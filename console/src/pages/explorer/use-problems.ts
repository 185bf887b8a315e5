import { useEffect, useState } from 'preact/hooks';
import { overview } from '../../api/overview.ts';
import type { SchemaPersona } from '../../api/types.ts';
import type { CodeMark } from '../../parts/code-editor-types.ts';
import { checkDocument } from './check-document.ts';
import { checkVariables } from './check-variables.ts';
import { isUntouched, type QueryTab } from './tabs.ts';

/** Pause after the last keystroke before the document is checked. */
const PAUSE_MS = 250;

export interface Problems {
  readonly document: readonly CodeMark[];
  readonly variables: readonly CodeMark[];
}

const NONE: Problems = { document: [], variables: [] };

/** Problems of the document and its variables, checked while they are written. @param operation index of the operation at the cursor */
export function useProblems(draft: QueryTab, as: SchemaPersona, operation: () => number): Problems {
  const { id, text, variables } = draft;
  const [checked, setChecked] = useState<{ readonly id: number; readonly problems: Problems }>();
  const key = JSON.stringify([text, variables, as, overview.value?.version]);
  useEffect(() => {
    if (isUntouched(text) || text.trim() === '') {
      setChecked(undefined);
      return;
    }
    let isCurrent = true;
    const timer = setTimeout(() => {
      void Promise.all([checkDocument(as, text), checkVariables(as, text, operation(), variables)]).then(([ofDocument, ofVariables]) => {
        if (isCurrent) setChecked({ id, problems: { document: ofDocument, variables: ofVariables } });
      });
    }, PAUSE_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [key]);
  // Between a keystroke and the next check the editor moves the previous marks along with the text.
  return checked?.id === id ? checked.problems : NONE;
}
