import { useState } from 'preact/hooks';
import { atomicSize, BATCH, type ImportState, MAX_ATOMIC_SIZE } from '../../api/import-rows.ts';
import { persona } from '../../api/persona.ts';
import type { NamedTableInfo } from '../../api/table-info.ts';
import { IMPORT_LIMITS } from '../../model/import-text.ts';
import { type TableOverview, tableId } from '../../model/overview.ts';
import { personaLabel } from '../../model/persona.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Field } from '../../parts/field.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { Segments } from '../../parts/tabs.tsx';
import { ImportPreview } from './import-preview.tsx';
import { counted, ImportReport } from './import-report.tsx';
import { type ImportFlow, type ImportMode, useImport } from './use-import.ts';

interface ImportDialogProps {
  readonly table: TableOverview;
  readonly info: NamedTableInfo;
  /** Pasted text; empty to ask for a file. */
  readonly text: string;
  onClose(): void;
  /** Called after rows were inserted. */
  onInserted(): void;
}

/** Imports rows from a file or from the clipboard: preview with errors by row, then batches with progress. */
export function ImportDialog({ table, info, text, onClose, onInserted }: ImportDialogProps) {
  const flow = useImport(info, text);
  const [mode, setMode] = useState<ImportMode>('valid');
  const { targets, failure, problem, progress, result, plan, rows } = flow;
  const isRunning = progress !== undefined;
  const run = async (): Promise<void> => {
    const { inserted, end } = await flow.start(mode);
    if (inserted > 0 || end === 'unknown') onInserted();
  };
  const refusal = isRunning ? 'Importing …' : refusalOf(flow, mode);
  const canStart = plan !== undefined && result === undefined;
  return (
    <Dialog
      title={`Import into ${tableId(table)}`}
      kind="wide"
      onClose={isRunning ? flow.stop : onClose}
      footer={
        <>
          {canStart && (
            <Button kind="primary" refusal={refusal} onClick={() => void run()}>
              {`Import ${counted(rows.length, 'row')}`}
            </Button>
          )}
          {isRunning ? (
            <Button icon="stop" refusal={flow.isStopping ? 'Stops after the current request' : undefined} onClick={flow.stop}>
              Stop
            </Button>
          ) : (
            <Button onClick={onClose}>Close</Button>
          )}
          {!isRunning && plan !== undefined && (
            <Button kind="quiet" onClick={flow.clear}>
              Other rows
            </Button>
          )}
          <span class="muted small end">as {personaLabel(persona.value)}</span>
        </>
      }
    >
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
      {targets === undefined && failure === undefined && <Loading what="the columns" />}
      {targets !== undefined && flow.table === undefined && <Input flow={flow} />}
      {problem !== undefined && (
        <p class="error-text" role="alert">
          {problem}
        </p>
      )}
      {canStart && (
        <>
          <ImportPreview flow={flow} />
          <div class="stack-tight">
            <Segments
              name="Rows with errors"
              options={[
                ['valid', 'Skip rows with errors'],
                ['all', 'All rows or none'],
              ]}
              chosen={mode}
              onChoose={setMode}
            />
            <span class="hint muted small">
              {mode === 'valid'
                ? `Inserts in batches of ${counted(BATCH.rows, 'row')}. Rows that the database rejects are listed and skipped.`
                : 'Inserts all rows in one transaction. If the database rejects a row, no row is inserted.'}
            </span>
          </div>
        </>
      )}
      {progress !== undefined && <Progress state={progress} count={rows.length} mode={mode} />}
      {result !== undefined && <ImportReport flow={flow} result={result} mode={mode} />}
    </Dialog>
  );
}

/** Number of rows so far; for one transaction only whether it is still running. */
function Progress({ state, count, mode }: { readonly state: ImportState; readonly count: number; readonly mode: ImportMode }) {
  const { handled, rejected } = state;
  const text =
    mode === 'valid'
      ? `${handled.toLocaleString('en')} of ${counted(count, 'row')}, ${rejected.length} rejected`
      : rejected.length === 0
        ? `Inserting ${counted(count, 'row')} …`
        : `No row was inserted. Looking for more rejected rows: ${rejected.length} so far …`;
  return (
    <div role="status" class="stack-tight">
      <progress aria-label="Progress of the import" class="import-progress" max={count} value={mode === 'all' ? undefined : handled} />
      <span class="muted small number">{text}</span>
    </div>
  );
}

/** Returns why the import cannot start. */
function refusalOf({ rows, plan }: ImportFlow, mode: ImportMode): string | undefined {
  if (rows.length === 0) return 'No valid rows';
  if (mode === 'valid') return undefined;
  if (plan !== undefined && rows.length < plan.objects.length) return 'Some rows have errors: skip them, or correct the file';
  if (atomicSize(rows) > MAX_ATOMIC_SIZE) return `One transaction takes at most ${MAX_ATOMIC_SIZE.toLocaleString('en')} characters of JSON`;
  return undefined;
}

/** A file, or pasted text. */
function Input({ flow }: { readonly flow: ImportFlow }) {
  const [text, setText] = useState('');
  return (
    <>
      <Field
        label="File"
        hint={`CSV, TSV or JSON, as a list of objects or one object per line. At most ${counted(IMPORT_LIMITS.rows, 'row')}.`}
      >
        {(id) => (
          <input
            id={id}
            class="input"
            type="file"
            accept=".csv,.tsv,.txt,.json,.jsonl,.ndjson"
            onChange={(event) => {
              const [file] = event.currentTarget.files ?? [];
              if (file !== undefined) void flow.read(file);
            }}
          />
        )}
      </Field>
      <Field label="Or paste rows" hint="Rows copied from a spreadsheet can also be pasted into the table of rows.">
        {(id) => (
          <textarea
            id={id}
            class="textarea"
            rows={6}
            spellcheck={false}
            value={text}
            onPaste={(event) => {
              const pasted = event.clipboardData?.getData('text/plain') ?? '';
              if (text !== '' || pasted === '') return;
              // The field would be slow with thousands of rows.
              event.preventDefault();
              void flow.read(pasted);
            }}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        )}
      </Field>
      {text !== '' && (
        <div>
          <Button onClick={() => void flow.read(text)}>Preview</Button>
        </div>
      )}
    </>
  );
}
