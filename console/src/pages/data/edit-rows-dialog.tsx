import { useState } from 'preact/hooks';
import { type Failure, failureOf } from '../../api/failure.ts';
import { persona } from '../../api/persona.ts';
import { updateRows, whereAny } from '../../api/rows.ts';
import { columnOfField, type NamedTableInfo } from '../../api/table-info.ts';
import { useResource } from '../../api/use-resource.ts';
import type { JsonObject } from '../../model/json.ts';
import { type TableOverview, tableId } from '../../model/overview.ts';
import { personaLabel } from '../../model/persona.ts';
import { columnOfError, type ColumnDraft, type Drafts, valuesOf } from '../../model/row-draft.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { showToast } from '../../parts/toast.tsx';
import { ColumnField } from './column-field.tsx';
import { readWritable } from './use-row-draft.ts';

interface EditRowsProps {
  readonly table: TableOverview;
  readonly info: NamedTableInfo;
  /** Keys of the rows. */
  readonly keys: readonly JsonObject[];
  onClose(): void;
  onWritten(): void;
}

/** Sets the same values in several rows, in one request. */
export function EditRowsDialog({ table, info, keys, onClose, onWritten }: EditRowsProps) {
  const as = persona.value;
  const [drafts, setDrafts] = useState<Drafts>({});
  const [errors, setErrors] = useState<Readonly<Record<string, string>>>({});
  const [failure, setFailure] = useState<Failure>();
  const [isBusy, setBusy] = useState(false);
  const { value: writable, failure: unread } = useResource(() => readWritable(as, info, 'setInput'), 'update');
  const changed = Object.keys(drafts).length;
  const refusal = changed === 0 ? 'No changes' : isBusy ? 'Saving …' : undefined;
  const set = (name: string, draft: ColumnDraft): void => {
    const { [name]: _, ...others } = drafts;
    setDrafts(draft.kind === 'unset' ? others : { ...others, [name]: draft });
  };
  const save = async (): Promise<void> => {
    if (refusal !== undefined) return;
    const { values, problems } = valuesOf(drafts, new Map([...(writable ?? [])].map(([name, { type }]) => [name, type.text])));
    setErrors(problems);
    if (Object.keys(problems).length > 0) return;
    setBusy(true);
    setFailure(undefined);
    try {
      const done = await updateRows(as, info.names, whereAny(keys), values);
      showToast(`Updated ${done} of ${keys.length} rows`, { isError: done < keys.length });
      onWritten();
      onClose();
    } catch (error) {
      const found = failureOf(error);
      const column = columnOfError(found.message, found.path, writable?.keys() ?? []);
      if (column === undefined) setFailure(found);
      else setErrors({ [column]: found.message });
    }
    setBusy(false);
  };
  return (
    <Dialog
      title={`Edit ${keys.length} rows of ${tableId(table)}`}
      kind="drawer"
      onClose={onClose}
      onSubmit={() => void save()}
      isEdited={changed > 0}
      footer={(close) => (
        <>
          <Button kind="primary" refusal={refusal} onClick={() => void save()}>
            {`Update ${keys.length} rows`}
          </Button>
          <Button onClick={close}>Close</Button>
          <span class="muted small end">as {personaLabel(as)}</span>
        </>
      )}
    >
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
      {unread !== undefined && <ErrorBox error={shownError(unread)} />}
      {writable === undefined && unread === undefined && <Loading what="the columns" />}
      <p class="muted small">
        Fields that you leave untouched keep their values. Rows that {personaLabel(as)} cannot update are skipped. After an error no row is
        updated.
      </p>
      {[...(writable ?? [])].map(([name, column]) => (
        <ColumnField
          key={name}
          name={name}
          column={columnOfField(info, name)}
          writable={column}
          before={undefined}
          isBulk
          draft={drafts[name]}
          error={errors[name]}
          onDraft={(draft) => set(name, draft)}
        />
      ))}
    </Dialog>
  );
}
