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

/** The form of a row: inserts a new one, or shows and updates one. */
export function RowDialog(props: RowDialogProps) {
  const { table, info, readable, row, focus, onClose } = props;
  const as = persona.value;
  const { drafts, errors, failure, unread, writable, refusal, set, save } = useRowDraft(props);
  const shown = row === null ? [...(writable?.keys() ?? [])] : readable.columns.map(({ name }) => name);
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
      {writable === undefined && unread === undefined && <Loading what="the columns" />}
      {writable !== undefined &&
        shown.map((name) => (
          <ColumnField
            key={name}
            name={name}
            column={info.columns.find((each) => info.columnNames.get(each.name) === name)}
            row={row}
            draft={drafts[name]}
            error={errors[name]}
            isWritable={writable.has(name) && !isReadOnly}
            isFocused={focus === name}
            onDraft={(draft) => set(name, draft)}
          />
        ))}
      {row !== null && <RelatedRows table={table} info={info} row={row} />}
    </Dialog>
  );
}

/** Edited columns of a row, and how to save them. */
function useRowDraft({ info, row, onWritten }: RowDialogProps) {
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
  /** Undefined until the input type is read. */
  const writable = input && new Map<string, FieldType>([...(input.type?.inputFields ?? [])].filter(([name]) => columnNames.has(name)));
  const set = (name: string, draft: Draft): void => {
    const { [name]: _, ...rest } = drafts;
    setDrafts(isSameAs(row, name, draft) || draft.kind === 'unset' ? rest : { ...rest, [name]: draft });
  };
  const save = async (): Promise<void> => {
    const { values, problems } = valuesOf(drafts, writable ?? new Map());
    setErrors(problems);
    if (Object.keys(problems).length > 0) return;
    setBusy(true);
    setFailure(undefined);
    try {
      const done = row === null ? await insertRow(as, info.names, values) : await updateRow(as, info.names, keyOf(row, info), values);
      if (done === 0) throw new Error(`No row was updated: ${personaLabel(as)} cannot update it, or it no longer exists.`);
      showToast(row === null ? 'Row inserted' : 'Row updated');
      onWritten();
    } catch (error) {
      setFailure(failureOf(error));
    }
    setBusy(false);
  };
  const canWrite = writable !== undefined && writable.size > 0 && (row === null || hasKey(row, info));
  const refusal = isReadOnly
    ? READ_ONLY_REASON
    : !canWrite
      ? `${personaLabel(as)} has no ${row === null ? 'insert' : 'update'} permission`
      : row !== null && Object.keys(drafts).length === 0
        ? 'No changes'
        : isBusy
          ? 'Saving …'
          : undefined;
  return { drafts, errors, failure, unread, writable, refusal, set, save };
}

/** @param row `null` for a new row, whose drafts all count */
function isSameAs(row: JsonObject | null, name: string, draft: Draft): boolean {
  if (row === null) return false;
  return draft.kind === 'null' ? row[name] === null : draft.kind === 'text' && cellText(row[name]) === draft.text;
}

/** Returns the values of the drafts, and by column what is wrong with a draft. */
function valuesOf(
  drafts: Readonly<Record<string, Draft>>,
  types: ReadonlyMap<string, FieldType>,
): { readonly values: Readonly<Record<string, Json>>; readonly problems: Readonly<Record<string, string>> } {
  const values: Record<string, Json> = {};
  const problems: Record<string, string> = {};
  for (const [name, draft] of Object.entries(drafts)) {
    const type = types.get(name)?.text;
    try {
      if (draft.kind !== 'unset') values[name] = draft.kind === 'null' ? null : jsonOfText(draft.text, type ?? 'String');
    } catch (error) {
      problems[name] = `Not a valid ${type}: ${failureOf(error).message}`;
    }
  }
  return { values, problems };
}

function keyColumns(info: NamedTableInfo): readonly string[] {
  return info.primaryKey.map((column) => info.columnNames.get(column) ?? column);
}

function hasKey(row: JsonObject, info: NamedTableInfo): boolean {
  const key = keyColumns(info);
  return key.length > 0 && key.every((column) => row[column] !== undefined);
}

function keyOf(row: JsonObject, info: NamedTableInfo): JsonObject {
  return Object.fromEntries(keyColumns(info).map((column) => [column, row[column] ?? null]));
}

interface ColumnFieldProps {
  readonly name: string;
  readonly column: NamedTableInfo['columns'][number] | undefined;
  readonly row: JsonObject | null;
  readonly draft: Draft | undefined;
  readonly error: string | undefined;
  readonly isWritable: boolean;
  readonly isFocused: boolean;
  onDraft(draft: Draft): void;
}

function ColumnField({ name, column, row, draft, error, isWritable, isFocused, onDraft }: ColumnFieldProps) {
  const before = row?.[name];
  const isNull = draft === undefined ? row !== null && before === null : draft.kind === 'null';
  const text = draft === undefined ? (cellText(before) ?? '') : draft.kind === 'text' ? draft.text : '';
  const unset = column?.default !== undefined ? `default: ${column.default}` : 'not set';
  return (
    <div class="field">
      <div class="row-tight">
        <label for={`column-${name}`}>{name}</label>
        <span class="muted small mono">{column?.type}</span>
        <span class="grow" />
        {column?.isNullable === true && isWritable && (
          <Button small kind="quiet" pressed={isNull} onClick={() => onDraft(isNull ? { kind: 'text', text: '' } : { kind: 'null' })}>
            NULL
          </Button>
        )}
        {row === null && draft !== undefined && (
          <Button small kind="quiet" onClick={() => onDraft({ kind: 'unset' })}>
            Use default
          </Button>
        )}
      </div>
      <textarea
        id={`column-${name}`}
        class="textarea"
        rows={text.length > 60 || text.includes('\n') ? 4 : 1}
        spellcheck={false}
        autofocus={isFocused}
        readOnly={!isWritable}
        aria-invalid={error !== undefined || undefined}
        placeholder={isNull ? 'NULL' : row === null && draft === undefined ? unset : 'empty string'}
        value={text}
        onInput={(event) => onDraft({ kind: 'text', text: event.currentTarget.value })}
      />
      {error !== undefined && (
        <span class="error-text" role="alert">
          {error}
        </span>
      )}
    </div>
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
