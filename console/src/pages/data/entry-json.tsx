import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { type Failure, failureOf } from '../../api/failure.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import { equalJson, isObject, type JsonObject, parseJson, printJson } from '../../model/json.ts';
import { type TableOverview, tableId, tableJson } from '../../model/overview.ts';
import { tableSteps } from '../../model/table-entry.ts';
import { Button } from '../../parts/button.tsx';
import { CodeEditor } from '../../parts/code-editor.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { shownError } from '../../parts/shown-error.ts';

/** The entry of the table in the metadata; what is edited becomes the fewest operations. */
export function EntryJson({ table, entry: given }: { readonly table: TableOverview; readonly entry: JsonObject | null }) {
  const before = printJson(given, 2);
  const [edited, setEdited] = useState<{ readonly text: string; readonly before: JsonObject | null }>();
  const text = edited?.text;
  const [failure, setFailure] = useState<Failure>();
  const address = { source: table.source, kind: table.kind, table: tableJson(table) };
  const review = async (): Promise<void> => {
    setFailure(undefined);
    try {
      const after = parseJson(text ?? before);
      if (!isObject(after)) throw new SyntaxError('the entry of a table is an object');
      const done = await makeChange({
        title: `Entry of ${tableId(table)}`,
        tables: [address],
        review: true,
        draft: {
          before: edited === undefined ? given : edited.before,
          now: ([entry]) => entry ?? null,
          after: () => after,
          discard: () => setEdited(undefined),
        },
        steps: ([entry]) => tableSteps(address, entry ?? null, after),
      });
      if (done !== null || equalJson(after, given)) setEdited(undefined);
    } catch (error) {
      setFailure(failureOf(error));
    }
  };
  return (
    <>
      <p class="muted">What the metadata says of this table. Edit it: the review shows the operations that make the difference.</p>
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
      <CodeEditor
        name={`Entry of ${tableId(table)}`}
        language="json"
        height="min(60vh, 560px)"
        value={text ?? before}
        readOnly={isReadOnly}
        onChange={(next) => setEdited({ text: next, before: edited === undefined ? given : edited.before })}
        onRun={() => void review()}
      />
      <div class="row">
        <Button
          kind="primary"
          refusal={isReadOnly ? READ_ONLY_REASON : text === undefined || text === before ? 'Nothing is changed' : undefined}
          onClick={() => void review()}
        >
          Review
        </Button>
        <Button refusal={text === undefined ? 'Nothing is changed' : undefined} onClick={() => setEdited(undefined)}>
          Reset
        </Button>
      </div>
    </>
  );
}
