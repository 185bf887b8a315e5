import type { CodeMark } from '../../parts/code-editor-types.ts';
import { Button } from '../../parts/button.tsx';
import { Icon } from '../../parts/icon.tsx';
import type { QueryTab } from './tabs.ts';
import type { Problems } from './use-problems.ts';

/** First problem of the document, or of its variables, below the editor. @param props.onShow selects a place of the document */
export function ProblemLine({
  draft,
  problems: { document, variables },
  onShow,
}: {
  readonly draft: QueryTab;
  readonly problems: Problems;
  onShow(mark: CodeMark): void;
}) {
  const [first] = document;
  const shown = first ?? variables[0];
  const others = document.length + variables.length - 1;
  return (
    <div class="problem-line small">
      {shown !== undefined && (
        <>
          <Icon name="warn" />
          {first === undefined ? (
            <strong>Variables</strong>
          ) : (
            <Button kind="link" onClick={() => onShow(first)}>
              Line {draft.text.slice(0, first.from).split('\n').length}
            </Button>
          )}
          <span>
            {shown.message}
            {others > 0 && <span class="muted"> ({others} more)</span>}
          </span>
        </>
      )}
    </div>
  );
}
