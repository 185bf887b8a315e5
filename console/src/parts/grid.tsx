import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { copyText } from '../browser/clipboard.ts';
import { useWindow } from './virtual-list.tsx';

export interface GridColumn {
  readonly id: string;
  readonly header: ComponentChildren;
  readonly isNumber?: boolean;
  readonly isSticky?: boolean;
  readonly isNarrow?: boolean;
  readonly sort?: 'ascending' | 'descending' | 'none';
}

export interface GridProps {
  readonly name: string;
  readonly columns: readonly GridColumn[];
  readonly count: number;
  /** Number of all rows, if the grid shows a page of them. */
  readonly total?: number;
  readonly selected?: ReadonlySet<number>;
  readonly rowHeight?: number;
  readonly class?: string;
  cell(row: number, column: number): ComponentChildren;
  /** Text for copying; without it nothing is copied. */
  text?(row: number, column: number): string;
  onOpen?(row: number, column: number): void;
  /** Called for F2. Defaults to `onOpen`. */
  onEdit?(row: number, column: number): void;
  onKey?(event: KeyboardEvent, row: number, column: number): void;
}

const ROW = 32;

/** A virtualised table with the ARIA grid pattern: arrow keys move the focused cell, and copied cells paste into spreadsheets. */
export function Grid({
  name,
  columns,
  count,
  total,
  selected,
  rowHeight = ROW,
  cell,
  text,
  onOpen,
  onEdit = onOpen,
  onKey,
  class: extra,
}: GridProps) {
  const [focused, setFocused] = useState({ row: 0, column: 0 });
  /** Other corner of the selected range. */
  const [anchor, setAnchor] = useState<{ row: number; column: number } | null>(null);
  const { frame, window } = useWindow(count, rowHeight, rowHeight);
  const body = useRef<HTMLTableSectionElement>(null);
  const current = { row: Math.min(focused.row, Math.max(0, count - 1)), column: Math.min(focused.column, columns.length - 1) };

  const move = (row: number, column: number, extend: boolean): void => {
    const next = { row: Math.max(0, Math.min(count - 1, row)), column: Math.max(0, Math.min(columns.length - 1, column)) };
    setAnchor(extend ? (anchor ?? current) : null);
    setFocused(next);
    const box = frame.current;
    if (box !== null) {
      const top = next.row * rowHeight;
      if (top < box.scrollTop) box.scrollTop = top;
      else if (top + rowHeight * 2 > box.scrollTop + box.clientHeight) box.scrollTop = top + rowHeight * 2 - box.clientHeight;
    }
    requestAnimationFrame(() =>
      requestAnimationFrame(() =>
        body.current?.querySelector<HTMLElement>(`[data-cell="${next.row}:${next.column}"]`)?.focus({ preventScroll: false }),
      ),
    );
  };
  const range = {
    top: Math.min(current.row, anchor?.row ?? current.row),
    bottom: Math.max(current.row, anchor?.row ?? current.row),
    left: Math.min(current.column, anchor?.column ?? current.column),
    right: Math.max(current.column, anchor?.column ?? current.column),
  };
  const keyDown = (event: KeyboardEvent): void => {
    if (!(event.target instanceof HTMLElement) || event.target.dataset['cell'] === undefined) return;
    const { row, column } = current;
    const mod = event.ctrlKey || event.metaKey;
    const page = Math.max(1, Math.floor((frame.current?.clientHeight ?? 300) / rowHeight) - 2);
    const steps: Record<string, readonly [number, number]> = {
      ArrowDown: [row + 1, column],
      ArrowUp: [row - 1, column],
      ArrowRight: [row, column + 1],
      ArrowLeft: [row, column - 1],
      PageDown: [row + page, column],
      PageUp: [row - page, column],
      Home: [mod ? 0 : row, 0],
      End: [mod ? count - 1 : row, columns.length - 1],
    };
    const step = steps[event.key];
    if (step !== undefined) {
      event.preventDefault();
      move(step[0], step[1], event.shiftKey);
    } else if (event.key === 'Enter' && onOpen !== undefined) {
      event.preventDefault();
      onOpen(row, column);
    } else if (event.key === 'F2' && onEdit !== undefined) {
      event.preventDefault();
      onEdit(row, column);
    } else if (mod && event.key.toLowerCase() === 'c' && text !== undefined && String(getSelection()) === '') {
      event.preventDefault();
      const lines = [];
      for (let r = range.top; r <= range.bottom; r++) {
        const cells = [];
        for (let c = range.left; c <= range.right; c++) cells.push(text(r, c).replace(/[\t\n]/g, ' '));
        lines.push(cells.join('\t'));
      }
      void copyText(lines.join('\n'));
    } else onKey?.(event, row, column);
  };
  const isInRange = (row: number, column: number): boolean =>
    anchor !== null && row >= range.top && row <= range.bottom && column >= range.left && column <= range.right;
  const { first, end } = window;
  return (
    <div ref={frame} class={`grid-frame ${extra ?? ''}`} role="group" aria-label={name} tabIndex={count === 0 ? 0 : undefined}>
      <table
        class="grid"
        role="grid"
        aria-label={name}
        aria-rowcount={(total ?? count) + 1}
        aria-colcount={columns.length}
        onKeyDown={keyDown}
        onFocusIn={(event) => {
          const cell = cellAt(event.target);
          if (cell !== undefined && (focused.row !== cell.row || focused.column !== cell.column)) setFocused(cell);
        }}
        onDblClick={(event) => {
          const cell = event.target instanceof Element ? cellAt(event.target.closest('[data-cell]')) : undefined;
          if (cell !== undefined) onOpen?.(cell.row, cell.column);
        }}
      >
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((column) => (
              <th key={column.id} scope="col" aria-sort={column.sort} class={classOf(column)}>
                {column.header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {first > 0 && (
            <tr aria-hidden="true">
              <td colSpan={columns.length} style={{ height: `${first * rowHeight}px`, padding: 0 }} />
            </tr>
          )}
          {Array.from({ length: Math.max(0, end - first) }, (_, index) => {
            const row = first + index;
            return (
              <tr key={row} aria-rowindex={row + 2} aria-selected={selected === undefined ? undefined : selected.has(row)}>
                {columns.map((column, c) => (
                  <td
                    key={column.id}
                    role="gridcell"
                    data-cell={`${row}:${c}`}
                    tabIndex={current.row === row && current.column === c ? 0 : -1}
                    class={`${classOf(column)}${isInRange(row, c) ? ' in-range' : ''}`}
                  >
                    {cell(row, c)}
                  </td>
                ))}
              </tr>
            );
          })}
          {end < count && (
            <tr aria-hidden="true">
              <td colSpan={columns.length} style={{ height: `${(count - end) * rowHeight}px`, padding: 0 }} />
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}

/** Finds the cell of an event. The table has the listeners: one per cell would be most of the work of rendering thousands of cells. */
function cellAt(element: EventTarget | null): { readonly row: number; readonly column: number } | undefined {
  const [row, column] = element instanceof HTMLElement ? (element.dataset['cell'] ?? '').split(':') : [];
  return column === undefined ? undefined : { row: Number(row), column: Number(column) };
}

function classOf({ isNumber = false, isSticky = false, isNarrow = false }: GridColumn): string {
  return `${isNumber ? 'is-number' : ''}${isSticky ? ' sticky' : ''}${isNarrow ? ' is-narrow' : ''}`;
}
