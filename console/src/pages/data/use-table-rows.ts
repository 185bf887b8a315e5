import { useEffect, useState } from 'preact/hooks';
import { failureOf } from '../../api/failure.ts';
import { persona } from '../../api/persona.ts';
import { countRows, deleteRows, type ReadableTable, readRows, type RowsQuery, updateRow } from '../../api/rows.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import { keyFields, type NamedTableInfo } from '../../api/table-info.ts';
import { type SchemaType, readType } from '../../api/types.ts';
import { useResource } from '../../api/use-resource.ts';
import { place, setQuery } from '../../browser/place.ts';
import { isObject, type Json, type JsonObject, parseJsonText, printJson } from '../../model/json.ts';
import { type Persona, personaLabel } from '../../model/persona.ts';
import { showToast } from '../../parts/toast.tsx';

export const PAGE_SIZES = [50, 200, 1000] as const;

/** A row that the row dialog shows, with the column to focus; a `null` row is a new one, which may start as a copy. */
export interface OpenRow {
  readonly row: JsonObject | null;
  readonly column?: string | undefined;
  readonly copied?: JsonObject;
}

/** The cell that is edited in its place. The key names the row, because a reload may move it. */
export interface EditedCell {
  readonly key: JsonObject;
  readonly column: string;
}

/** A delete that waits for confirmation. */
export interface PendingDelete {
  readonly where: JsonObject;
  /** Such as `3 rows`. */
  readonly text: string;
}

/** Input types of the persona's writes; a missing type means that the persona has no such permission. */
interface WriteAccess {
  readonly insert: SchemaType | undefined;
  readonly update: SchemaType | undefined;
  readonly canWrite: boolean;
}

/** Filter, order and page of a table, kept in the address of the page. */
function readAddress(columns: readonly string[]) {
  const { query } = place.value;
  const orderText = query.get('order') ?? '';
  return {
    where: filterInAddress(query.get('where')),
    orderText,
    order: orderText
      .split(',')
      .map((part) => part.split('.') as [string, string])
      .filter(([column]) => columns.includes(column))
      .map(([column, direction]) => [column, direction === 'desc' ? 'desc' : 'asc'] as const),
    size: PAGE_SIZES.find((each) => String(each) === query.get('size')) ?? PAGE_SIZES[0],
    offset: Math.max(0, Number(query.get('offset') ?? 0) || 0),
  };
}

function filterInAddress(text: string | null): JsonObject {
  try {
    const json = parseJsonText(text ?? '{}');
    return isObject(json) ? json : {};
  } catch {
    return {};
  }
}

async function readWriteAccess(as: Persona, { names }: NamedTableInfo): Promise<WriteAccess> {
  const { insertInput, setInput, mutationResponse } = names;
  const [insert, update, response] = await Promise.all(
    [insertInput, setInput, mutationResponse].map((name) => (name === undefined ? undefined : readType(as, name))),
  );
  return { insert, update, canWrite: response !== undefined };
}

/** Selected rows, and the dialogs and the cell editor that are open. */
function useRowDialogs() {
  const [selected, setSelected] = useState<ReadonlySet<number>>(new Set());
  const [open, setOpen] = useState<OpenRow | null>(null);
  const [editing, setEditing] = useState<EditedCell | null>(null);
  const [pendingDelete, setPendingDelete] = useState<PendingDelete | null>(null);
  /** Keys of the rows that are edited at once. */
  const [bulk, setBulk] = useState<readonly JsonObject[] | null>(null);
  /** Text to import; empty for a dialog that asks for it. */
  const [importing, setImporting] = useState<string | null>(null);
  const toggleRow = (row: number, isSelected: boolean): void => {
    const next = new Set(selected);
    if (isSelected) next.add(row);
    else next.delete(row);
    setSelected(next);
  };
  return {
    selected,
    setSelected,
    toggleRow,
    open,
    setOpen,
    editing,
    setEditing,
    pendingDelete,
    setPendingDelete,
    importing,
    setImporting,
    bulk,
    setBulk,
  };
}

/** Deletes and edits of rows as the persona. */
function useRowChanges(
  info: NamedTableInfo,
  readable: ReadableTable,
  { setEditing, setPendingDelete }: ReturnType<typeof useRowDialogs>,
  reload: () => void,
) {
  const as = persona.value;
  /** Opens the confirmation. Counts the rows if their number is unknown and the persona may aggregate. */
  const confirmDelete = async (condition: JsonObject, known?: number): Promise<void> => {
    const found = known ?? (readable.hasAggregate ? await countRows(as, info.names, condition).catch(() => 'matching') : 'matching');
    setPendingDelete({ where: condition, text: `${found} ${found === 1 || found === '1' ? 'row' : 'rows'}` });
  };
  const deletePending = async ({ where: condition }: PendingDelete): Promise<void> => {
    const done = await deleteRows(as, info.names, condition);
    setPendingDelete(null);
    showToast(`Deleted ${done} ${done === 1 ? 'row' : 'rows'}`);
    reload();
  };
  /** @throws Error if no row was changed, Failure if the service refuses the value */
  const writeCell = async ({ key, column }: EditedCell, json: Json): Promise<void> => {
    const done = await updateRow(as, info.names, key, { [column]: json });
    if (done === 0) throw new Error(`No row was updated: ${personaLabel(as)} cannot update it, or it no longer exists.`);
    setEditing(null);
    showToast('Row updated');
    reload();
  };
  return { confirmDelete, deletePending, writeCell };
}

/** Sorts by a column: ascending, then descending, then by the primary key again. */
function toggleSort([current]: RowsQuery['order'], column: string): void {
  const next = current?.[0] !== column ? `${column}.asc` : current[1] === 'asc' ? `${column}.desc` : undefined;
  setQuery({ order: next, offset: undefined });
}

/** State of the rows page: the rows that are shown, what the persona may do with them, and the dialogs that are open. */
export function useTableRows(info: NamedTableInfo, readable: ReadableTable) {
  const as = persona.value;
  const columns = readable.columns.map(({ name }) => name);
  const { where, orderText, order, size, offset } = readAddress(columns);
  const key = keyFields(info);
  const hasKey = key.length > 0 && key.every((column) => columns.includes(column));
  const dialogs = useRowDialogs();
  const { setSelected, setEditing } = dialogs;
  /** Number of rows, with the condition that was counted. */
  const [counted, setCounted] = useState<{ readonly where: string; readonly count: string }>();
  const condition = printJson(where);
  const address = printJson([where, orderText, size, offset]);
  const { value, failure, isLoading, reload, stop } = useResource(async (signal) => {
    const byKey = hasKey ? key.map((column) => [column, 'asc'] as const) : [];
    const query = { where, order: order.length > 0 ? order : byKey, limit: size + 1, offset };
    const rows = await readRows(as, info.names, columns, query, signal);
    setSelected(new Set());
    return { rows: rows.slice(0, size), hasMore: rows.length > size };
  }, address);
  useEffect(() => setEditing(null), [address]);
  const rows = value?.rows ?? [];
  const access = useResource(() => readWriteAccess(as, info), `${JSON.stringify(as)} ${info.version}`).value;
  const keysOf = (indices: Iterable<number>): readonly JsonObject[] =>
    [...indices].map((index) => Object.fromEntries(key.map((column) => [column, rows[index]?.[column] ?? null])));
  const changes = useRowChanges(info, readable, dialogs, reload);
  const countAll = async (): Promise<void> => {
    try {
      setCounted({ where: condition, count: await countRows(as, info.names, where) });
    } catch (error) {
      showToast(failureOf(error).message, { isError: true });
    }
  };
  return {
    ...dialogs,
    ...changes,
    as,
    columns,
    where,
    order,
    size,
    offset,
    hasKey,
    rows,
    access,
    count: counted?.where === condition ? counted.count : undefined,
    failure,
    isLoading,
    reload,
    stop,
    keysOf,
    countAll,
    hasFilter: Object.keys(where).length > 0,
    hasMore: value?.hasMore === true,
    isRead: value !== undefined,
    canEdit: (column: string): boolean => hasKey && !isReadOnly && access?.update?.inputFields.has(column) === true,
    /** Why the persona may not write; `allowed` is undefined until the types have been read. */
    refusal: (verb: string, allowed: boolean | undefined): string | undefined =>
      isReadOnly ? READ_ONLY_REASON : allowed === false ? `${personaLabel(as)} has no permission to ${verb}` : undefined,
    toggleSort: (column: string): void => toggleSort(order, column),
  };
}

export type TableRowsState = ReturnType<typeof useTableRows>;
