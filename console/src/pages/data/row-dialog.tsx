import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { persona } from '../../api/persona.ts';
import type { ReadableTable } from '../../api/rows.ts';
import { columnOfField, type NamedTableInfo } from '../../api/table-info.ts';
import { hrefOf } from '../../browser/place.ts';
import { isList, isObject, type Json, type JsonObject, printJson } from '../../model/json.ts';
import { type TableOverview, tableId } from '../../model/overview.ts';
import { personaLabel } from '../../model/persona.ts';
import { type Drafts, draftsOf } from '../../model/row-draft.ts';
import { labelOf } from '../../model/steps.ts';
import { membersOf } from '../../model/table-entry.ts';
import { isReadOnly } from '../../api/settings.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Check } from '../../parts/field.tsx';
import { Lazy } from '../../parts/lazy.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { ColumnField } from './column-field.tsx';
import { type Reference, referencedTable, referencesOf } from './references.ts';
import { useRowDraft } from './use-row-draft.ts';

const FIELDS = ':is(input, select, textarea):not([aria-hidden], [readonly])';
const loadPicker = async () => (await import('./reference-picker.tsx')).ReferencePicker;

interface RowDialogProps {
  readonly table: TableOverview;
  readonly info: NamedTableInfo;
  readonly readable: ReadableTable;
  /** `null` for a new row. */
  readonly row: JsonObject | null;
  /** Row whose values a new row starts with. */
  readonly copied: JsonObject | undefined;
  readonly focus: string | undefined;
  onClose(): void;
  /** Opens the form for a copy of the row; undefined if the persona cannot insert rows. */
  onCopy: ((row: JsonObject) => void) | undefined;
  /** @param isOpen true if the form stays open for another row */
  onWritten(isOpen: boolean): void;
}

/** The form of a row: inserts a new one, or shows and updates one. */
export function RowDialog(props: RowDialogProps) {
  const { table, info, readable, row, focus, onClose, onCopy } = props;
  const as = persona.value;
  const [isAnother, setAnother] = useState(false);
  const form = useRef<HTMLDivElement>(null);
  const { drafts, isEdited, errors, failure, unread, writable, refusal, set, save } = useRowDraft({
    ...props,
    onWritten: () => props.onWritten(isAnother),
  });
  const focusField = (selector: string): void => form.current?.querySelector<HTMLElement>(selector)?.focus();
  // The dialog opens before the columns are read.
  const isRead = writable !== undefined;
  useLayoutEffect(() => {
    if (isRead) focusField(focus === undefined ? FIELDS : `[data-column="${CSS.escape(focus)}"] :is(${FIELDS}, .segments button)`);
  }, [isRead]);
  const submit = async (): Promise<void> => {
    const isSaved = await save();
    // Once the form is rendered with the result.
    await new Promise(requestAnimationFrame);
    focusField(isSaved ? FIELDS : '[aria-invalid="true"]');
  };
  const shown = row === null ? [...(writable?.keys() ?? [])] : readable.columns.map(({ name }) => name);
  const references = referencesOf(info);
  const hasRequired = row === null && info.columns.some(({ isNullable, hasDefault }) => !isNullable && !hasDefault);
  return (
    <Dialog
      title={row === null ? `Insert into ${tableId(table)}` : `Row of ${tableId(table)}`}
      kind="drawer"
      onClose={onClose}
      onSubmit={() => void submit()}
      isEdited={isEdited}
      footer={(close, discard) => (
        <>
          <Button kind="primary" refusal={refusal} onClick={() => void submit()}>
            {row === null ? 'Insert' : 'Save'}
          </Button>
          <Button onClick={close}>Close</Button>
          {row === null && <Check label="Insert another" checked={isAnother} onChange={setAnother} />}
          {row !== null && onCopy !== undefined && (
            <Button kind="quiet" icon="copy" onClick={() => discard(() => onCopy(row))}>
              Duplicate
            </Button>
          )}
          <span class="muted small end">as {personaLabel(as)}</span>
        </>
      )}
    >
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
      {unread !== undefined && <ErrorBox error={shownError(unread)} />}
      {writable === undefined && unread === undefined && <Loading what="the columns" />}
      {writable !== undefined && (
        <div ref={form} class="stack">
          {hasRequired && <p class="muted small">Fields marked “required” have no default.</p>}
          {shown.map((name) => {
            const reference = references.get(name);
            const column = isReadOnly ? undefined : writable.get(name);
            return (
              <ColumnField
                key={name}
                name={name}
                column={columnOfField(info, name)}
                writable={column}
                before={row === null ? undefined : (row[name] ?? null)}
                draft={drafts[name]}
                error={errors[name]}
                onDraft={(draft) => set({ [name]: draft })}
              >
                {reference !== undefined && column !== undefined && (
                  <ReferenceButton name={name} table={table} reference={reference} onDrafts={set} />
                )}
              </ColumnField>
            );
          })}
        </div>
      )}
      {row !== null && <RelatedRows table={table} info={info} row={row} />}
    </Dialog>
  );
}

/** Opens the search for the referenced row. */
function ReferenceButton({
  name,
  table,
  reference,
  onDrafts,
}: {
  readonly name: string;
  readonly table: TableOverview;
  readonly reference: Reference;
  onDrafts(drafts: Drafts): void;
}) {
  const [isOpen, setOpen] = useState(false);
  const target = referencedTable(table, reference);
  if (target === undefined) return null;
  const pick = (values: Readonly<Record<string, Json>>): void => {
    setOpen(false);
    onDrafts(draftsOf(values, Object.keys(values)));
  };
  return (
    <>
      <Button icon="search" name={`Select ${name} in ${labelOf(reference.to)}`} popup="dialog" onClick={() => setOpen(true)} />
      {isOpen && (
        <Lazy load={loadPicker}>
          {(ReferencePicker) => <ReferencePicker table={target} reference={reference} onClose={() => setOpen(false)} onPick={pick} />}
        </Lazy>
      )}
    </>
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
