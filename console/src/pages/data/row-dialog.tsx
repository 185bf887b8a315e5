import { useState } from 'preact/hooks';
import { type Failure, failureOf } from '../../api/failure.ts';
import { persona } from '../../api/persona.ts';
import { insertRow, type ReadableTable, updateRow } from '../../api/rows.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import { type FieldType, readType } from '../../api/types.ts';
import type { NamedTableInfo } from '../../api/table-info.ts';
import { useResource } from '../../api/use-resource.ts';
import { hrefOf } from '../../browser/place.ts';
import { cellText, jsonOfText } from '../../model/cell-text.ts';
import { isList, isObject, type Json, type JsonObject, printJson } from '../../model/json.ts';
import { type TableOverview, tableId } from '../../model/overview.ts';
import { personaLabel } from '../../model/persona.ts';
import { labelOf } from '../../model/steps.ts';
import { membersOf } from '../../model/table-entry.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { showToast } from '../../parts/toast.tsx';

interface RowDialogProps {
  readonly table: TableOverview;
  readonly info: NamedTableInfo;
  readonly readable: ReadableTable;
  /** `null` for a new row. */
  readonly row: JsonObject | null;
  readonly focus: string | undefined;
  onClose(): void;
  onWritten(): void;
}

/** Distinguishes null, text that may be empty, and the default of the database. */
type Draft = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'null' } | { readonly kind: 'unset' };

export function RowDialog({ table, info, readable, row, focus, onClose, onWritten }: RowDialogProps) {
  const as = persona.value;
  const [drafts, setDrafts] = useState<Readonly<Record<string, Draft>>>({});
  const [failure, setFailure] = useState<Failure>();
  const [errors, setErrors] = useState<Readonly<Record<string, string>>>({});
  const [isBusy, setBusy] = useState(false);
  const { value: input, failure: unread } = useResource(
    async () => {
      const name = row === null ? info.names.insertInput : info.names.setInput;
      return { type: name === undefined ? undefined : await readType(as, name) };
    },
    row === null ? 'insert' : 'update',
  );
  const columnNames = new Set(info.columnNames.values());
  const writable = new Map<string, FieldType>([...(input?.type?.inputFields ?? [])].filter(([name]) => columnNames.has(name)));
  const shown = row === null ? [...writable.keys()] : readable.columns.map(({ name }) => name);
  const key = info.primaryKey.map((column) => info.columnNames.get(column) ?? column);
  const hasKey = row !== null && key.length > 0 && key.every((column) => row[column] !== undefined);
  const canWrite = writable.size > 0 && (row === null || hasKey);
  const set = (name: string, draft: Draft): void => {
    const current = row === null ? undefined : row[name];
    const isSame = row !== null && (draft.kind === 'null' ? current === null : draft.kind === 'text' && cellText(current) === draft.text);
    const { [name]: _, ...rest } = drafts;
    setDrafts(isSame || draft.kind === 'unset' ? rest : { ...rest, [name]: draft });
  };
  const save = async (): Promise<void> => {
    const values: Record<string, Json> = {};
    const problems: Record<string, string> = {};
    for (const [name, draft] of Object.entries(drafts)) {
      try {
        if (draft.kind !== 'unset')
          values[name] = draft.kind === 'null' ? null : jsonOfText(draft.text, writable.get(name)?.text ?? 'String');
      } catch (error) {
        problems[name] = `Not a valid ${writable.get(name)?.text}: ${failureOf(error).message}`;
      }
    }
    setErrors(problems);
    if (Object.keys(problems).length > 0) return;
    setBusy(true);
    setFailure(undefined);
    try {
      const done =
        row === null
          ? await insertRow(as, info.names, values)
          : await updateRow(as, info.names, Object.fromEntries(key.map((column) => [column, row[column] ?? null])), values);
      if (done === 0) throw new Error(`No row was updated: ${personaLabel(as)} cannot update it, or it no longer exists.`);
      showToast(row === null ? 'Row inserted' : 'Row updated');
      onWritten();
    } catch (error) {
      setFailure(failureOf(error));
    }
    setBusy(false);
  };
  const refusal = isReadOnly
    ? READ_ONLY_REASON
    : !canWrite
      ? `${personaLabel(as)} has no ${row === null ? 'insert' : 'update'} permission`
      : row !== null && Object.keys(drafts).length === 0
        ? 'No changes'
        : isBusy
          ? 'Saving …'
          : undefined;
  return (
    <Dialog
      title={row === null ? `Insert into ${tableId(table)}` : `Row of ${tableId(table)}`}
      kind="drawer"
      onClose={onClose}
      onSubmit={() => void (refusal === undefined && save())}
      footer={
        <>
          <Button kind="primary" refusal={refusal} onClick={() => void save()}>
            {row === null ? 'Insert' : 'Save'}
          </Button>
          <Button onClick={onClose}>Close</Button>
          <span class="muted small end">as {personaLabel(as)}</span>
        </>
      }
    >
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
      {unread !== undefined && <ErrorBox error={shownError(unread)} />}
      {input === undefined && unread === undefined && <Loading what="the columns" />}
      {input !== undefined &&
        shown.map((name) => {
          const column = info.columns.find((each) => info.columnNames.get(each.name) === name);
          const draft = drafts[name];
          const before = row?.[name];
          const isNull = draft === undefined ? row !== null && before === null : draft.kind === 'null';
          const text = draft === undefined ? (cellText(before) ?? '') : draft.kind === 'text' ? draft.text : '';
          const isUnset = row === null && draft === undefined;
          const isWritable = writable.has(name) && !isReadOnly;
          return (
            <div class="field" key={name}>
              <div class="row-tight">
                <label for={`column-${name}`}>{name}</label>
                <span class="muted small mono">{column?.type}</span>
                <span class="grow" />
                {column?.isNullable === true && isWritable && (
                  <Button
                    small
                    kind="quiet"
                    pressed={isNull}
                    onClick={() => set(name, isNull ? { kind: 'text', text: '' } : { kind: 'null' })}
                  >
                    NULL
                  </Button>
                )}
                {row === null && draft !== undefined && (
                  <Button small kind="quiet" onClick={() => set(name, { kind: 'unset' })}>
                    Use default
                  </Button>
                )}
              </div>
              <textarea
                id={`column-${name}`}
                class="textarea"
                rows={text.length > 60 || text.includes('\n') ? 4 : 1}
                spellcheck={false}
                autofocus={focus === name}
                readOnly={!isWritable}
                aria-invalid={errors[name] !== undefined || undefined}
                placeholder={
                  isNull ? 'NULL' : isUnset ? (column?.default !== undefined ? `default: ${column.default}` : 'not set') : 'empty string'
                }
                value={text}
                onInput={(event) => set(name, { kind: 'text', text: event.currentTarget.value })}
              />
              {errors[name] !== undefined && (
                <span class="error-text" role="alert">
                  {errors[name]}
                </span>
              )}
            </div>
          );
        })}
      {row !== null && <RelatedRows table={table} info={info} row={row} />}
    </Dialog>
  );
}

/** Links to the rows of array relationships with known columns. */
function RelatedRows({ table, info, row }: { readonly table: TableOverview; readonly info: NamedTableInfo; readonly row: JsonObject }) {
  const links = membersOf(info.entry, 'array_relationships').flatMap((relationship) => {
    const using = isObject(relationship['using']) ? relationship['using']['foreign_key_constraint_on'] : undefined;
    if (!isObject(using) || using['table'] === undefined) return [];
    const columns = isList(using['columns']) ? using['columns'].map(String) : [String(using['column'])];
    const [column] = columns;
    const [own] = info.primaryKey;
    if (columns.length !== 1 || column === undefined || own === undefined) return [];
    const value = row[info.columnNames.get(own) ?? own] ?? null;
    const target = typeof using['table'] === 'string' ? { schema: table.schema, name: using['table'] } : using['table'];
    return [
      {
        name: String(relationship['name']),
        href: hrefOf(['data', table.source, labelOf(target)], { where: printJson({ [column]: { _eq: value } }) }),
      },
    ];
  });
  if (links.length === 0) return null;
  return (
    <div class="stack-tight">
      <span class="label">Related rows</span>
      <div class="row">
        {links.map(({ name, href }) => (
          <a key={name} class="button button-small" href={href}>
            {name}
          </a>
        ))}
      </div>
    </div>
  );
}
