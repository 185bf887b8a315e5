import { useEffect } from 'preact/hooks';
import { type ReadableTable, whereAny } from '../../api/rows.ts';
import { isReadOnly } from '../../api/settings.ts';
import { columnOfField, type NamedTableInfo } from '../../api/table-info.ts';
import { hrefOf } from '../../browser/place.ts';
import { cellText } from '../../model/cell-text.ts';
import { arranged, type ColumnLayout, widthOf, withWidth } from '../../model/column-layout.ts';
import { equalJson, isList, isObject, type Json, printJson } from '../../model/json.ts';
import { type TableOverview, tableId } from '../../model/overview.ts';
import { labelOf } from '../../model/steps.ts';
import { Grid, type GridColumn } from '../../parts/grid.tsx';
import { Icon } from '../../parts/icon.tsx';
import { CellEditor } from './cell-editor.tsx';
import type { TableRowsState } from './use-table-rows.ts';

const MAX_SHOWN_CHARACTERS = 200;

interface RowsGridProps {
  readonly table: TableOverview;
  readonly info: NamedTableInfo;
  readonly readable: ReadableTable;
  readonly state: TableRowsState;
  readonly layout: ColumnLayout;
  onLayout(layout: ColumnLayout): void;
}

export function RowsGrid({ table, info, readable, state, layout, onLayout }: RowsGridProps) {
  const { rows, hasKey, isLoading, selected, keysOf, canEdit, toggleRow, confirmDelete, setOpen, setEditing } = state;
  const foreignKeys = foreignKeysOf(info);
  usePastedRows(state);
  /** Column of the table in a column of the grid, whose first one has the checkboxes if the table has a key. */
  const shown = arranged(readable.columns, layout);
  const columnAt = (index: number) => shown[index - (hasKey ? 1 : 0)];
  return (
    <Grid
      name={`Rows of ${tableId(table)}`}
      class={`grid-fill${isLoading ? ' is-old' : ''}`}
      columns={headersOf(shown, state, layout)}
      onResize={(name, width) => onLayout(withWidth(layout, name, width))}
      count={rows.length}
      selected={selected}
      cell={(row, index) => {
        const column = columnAt(index);
        return column === undefined ? (
          <input
            type="checkbox"
            class="tick"
            tabIndex={-1}
            aria-label={`Select row ${row + 1}`}
            checked={selected.has(row)}
            onChange={(event) => toggleRow(row, event.currentTarget.checked)}
          />
        ) : (
          <Cell table={table} info={info} state={state} row={row} column={column.name} link={foreignKeys.get(column.name)} />
        );
      }}
      text={(row, index) => cellText(rows[row]?.[columnAt(index)?.name ?? ''] ?? null) ?? ''}
      onOpen={(row, index) => {
        const found = rows[row];
        if (found !== undefined) setOpen({ row: found, column: columnAt(index)?.name });
      }}
      onEdit={(row, index) => {
        const found = rows[row];
        const column = columnAt(index)?.name;
        if (found === undefined) return;
        if (column !== undefined && fitsItsCell(found[column]) && canEdit(column)) {
          const [key] = keysOf([row]);
          if (key !== undefined) setEditing({ key, column });
        } else setOpen({ row: found, column });
      }}
      onKey={(event, row) => {
        if (event.key === ' ' && hasKey) {
          event.preventDefault();
          toggleRow(row, !selected.has(row));
        } else if (event.key === 'Delete' && hasKey && !isReadOnly)
          void confirmDelete(whereAny(keysOf(selected.size > 0 ? selected : [row])), Math.max(1, selected.size));
      }}
    />
  );
}

/** Opens the import with rows that are pasted while a cell has the focus. */
function usePastedRows({ access, setImporting }: TableRowsState): void {
  const canInsert = !isReadOnly && access?.insert !== undefined;
  useEffect(() => {
    const paste = (event: ClipboardEvent): void => {
      const { activeElement } = document;
      const text = event.clipboardData?.getData('text/plain') ?? '';
      if (!(activeElement instanceof HTMLElement) || activeElement.dataset['cell'] === undefined || text.trim() === '') return;
      event.preventDefault();
      setImporting(text);
    };
    if (canInsert) document.addEventListener('paste', paste);
    return () => document.removeEventListener('paste', paste);
  }, [canInsert, setImporting]);
}

/** Width of the column with the checkboxes, in pixels. */
const TICK_WIDTH = 36;

function headersOf(
  shown: ReadableTable['columns'],
  { hasKey, order, toggleSort }: TableRowsState,
  layout: ColumnLayout,
): readonly GridColumn[] {
  let start = hasKey ? TICK_WIDTH : 0;
  const columns = shown.map(({ name, type, isNumber }): GridColumn => {
    const direction = order.find(([column]) => column === name)?.[1];
    const isSticky = layout.pinned.includes(name);
    const width = widthOf(layout, name);
    const place = isSticky ? { isSticky, start } : {};
    if (isSticky) start += width ?? 0;
    return {
      id: name,
      isNumber,
      width,
      ...place,
      sort: direction === 'asc' ? 'ascending' : direction === 'desc' ? 'descending' : 'none',
      header: (
        <button type="button" class="sort" title={`Sort by ${name}`} onClick={() => toggleSort(name)}>
          {name} <span class="type">{type.text.replaceAll('!', '')}</span>
          {direction !== undefined && <Icon name={direction === 'asc' ? 'up' : 'down'} />}
        </button>
      ),
    };
  });
  if (!hasKey) return columns;
  const ticks = { id: ' ', header: <span class="visually-hidden">Selected</span>, isSticky: true, isNarrow: true };
  return [layout.pinned.length === 0 ? ticks : { ...ticks, width: TICK_WIDTH }, ...columns];
}

/** Table and column that a foreign key of one column references. */
interface ForeignLink {
  readonly to: Json;
  readonly column: string;
}

/** Foreign keys of one column, by its name in the GraphQL schema. */
function foreignKeysOf({ foreignKeys, columnNames }: NamedTableInfo): ReadonlyMap<string, ForeignLink> {
  return new Map(
    foreignKeys.flatMap(({ table: to, columns }) => {
      const [only] = columns;
      return columns.length === 1 && only !== undefined ? [[columnNames.get(only[0]) ?? only[0], { to, column: only[1] }] as const] : [];
    }),
  );
}

interface CellProps extends Pick<RowsGridProps, 'table' | 'info' | 'state'> {
  readonly row: number;
  readonly column: string;
  readonly link: ForeignLink | undefined;
}

function Cell({ table, info, state, row, column, link }: CellProps) {
  const { rows, access, editing, keysOf, setEditing, writeCell } = state;
  const json = rows[row]?.[column] ?? null;
  const type = access?.update?.inputFields.get(column);
  if (editing?.column === column && type !== undefined && equalJson(editing.key, keysOf([row])[0] ?? null)) {
    return (
      <CellEditor
        key={printJson(editing.key)}
        column={column}
        json={json}
        type={type}
        isNullable={columnOfField(info, column)?.isNullable === true}
        onSave={(next) => writeCell(editing, next)}
        onCancel={() => setEditing(null)}
      />
    );
  }
  return (
    <>
      {shownValue(json)}
      {link !== undefined && json !== null && (
        <a
          class="cell-link"
          tabIndex={-1}
          title={`Referenced row in ${labelOf(link.to)}`}
          aria-label={`Referenced row in ${labelOf(link.to)}`}
          href={hrefOf(['data', table.source, labelOf(link.to)], { where: printJson({ [link.column]: { _eq: json } }) })}
        >
          <Icon name="right" />
        </a>
      )}
    </>
  );
}

/** Returns whether a value can be edited in its cell; long, multi-line and composite values are edited in the row dialog. */
function fitsItsCell(json: Json | undefined): boolean {
  const text = cellText(json) ?? '';
  return !isObject(json) && !isList(json) && !text.includes('\n') && text.length <= MAX_SHOWN_CHARACTERS;
}

function shownValue(json: Json) {
  const text = cellText(json);
  if (text === null) return <span class="null">null</span>;
  if (text === '') return <span class="null">empty</span>;
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text;
}
