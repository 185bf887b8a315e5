import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import { useDraft } from '../../browser/drafts.ts';
import { equalJson, isObject, type JsonObject, parseJsonText, printJson } from '../../model/json.ts';
import { type TableOverview, tableId, tableJson } from '../../model/overview.ts';
import { tableSteps } from '../../model/table-entry.ts';
import { Button } from '../../parts/button.tsx';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { shownError } from '../../parts/shown-error.ts';

/** Editor for the metadata entry of a table. A change becomes the smallest set of operations. */
export function EntryJson({ table, entry: stored }: { readonly table: TableOverview; readonly entry: JsonObject | null }) {
  const before = printJson(stored, 2);
  const [edited, setEdited] = useDraft<{ readonly text: string; readonly before: JsonObject | null }>(
    `entry ${table.source} ${tableId(table)}`,
  );
  const text = edited?.text;
  const [failure, setFailure] = useState<Failure>();
  const address = { source: table.source, kind: table.kind, table: tableJson(table) };
  const reset = (): void => {
    setFailure(undefined);
    setEdited(undefined);
  };
  const review = async (): Promise<void> => {
    setFailure(undefined);
    try {
      const after = parseJsonText(text ?? before);
      if (!isObject(after)) throw new SyntaxError('expected a JSON object');
      const done = await makeChange({
        title: `Edit metadata of ${tableId(table)}`,
        tables: [address],
        review: true,
        draft: {
          before: edited === undefined ? stored : edited.before,
          now: ([entry]) => entry ?? null,
          after: () => after,
          discard: reset,
        },
        steps: ([entry]) => tableSteps(address, entry ?? null, after),
      });
      if (done !== null || equalJson(after, stored)) setEdited(undefined);
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  return (
    <>
      <p class="muted">The metadata of this table. After an edit, the review shows the operations of the change.</p>
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
      <CodeEditor
        name={`Metadata of ${tableId(table)}`}
        language="json"
        height="min(60vh, 35rem)"
        value={text ?? before}
        readOnly={isReadOnly}
        onChange={(next) => {
          setFailure(undefined);
          setEdited(next === before ? undefined : { text: next, before: edited === undefined ? stored : edited.before });
        }}
        onRun={() => void review()}
      />
      <div class="row">
        <Button
          kind="primary"
          refusal={isReadOnly ? READ_ONLY_REASON : text === undefined || text === before ? 'No changes' : undefined}
          onClick={() => void review()}
        >
          Review changes
        </Button>
        <Button refusal={text === undefined ? 'No changes' : undefined} onClick={reset}>
          Reset
        </Button>
      </div>
    </>
  );
}
