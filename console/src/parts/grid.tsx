import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { rowHeight } from '../browser/density.ts';
import { copyText } from '../browser/clipboard.ts';
import { scrollToRow, useWindow } from './virtual-list.tsx';

export interface GridColumn {
  readonly id: string;
  readonly header: ComponentChildren;
  readonly isNumber?: boolean;
  readonly isSticky?: boolean;
  readonly isNarrow?: boolean;
  /** Width in pixels; undefined for that of the content. */
  readonly width?: number | undefined;
  /** Position of a sticky column from the start of the grid, in pixels. Default 0. */
  readonly start?: number;
  readonly sort?: 'ascending' | 'descending' | 'none';
}

export interface GridProps {
  readonly name: string;
  readonly columns: readonly GridColumn[];
  readonly count: number;
  /** Number of all rows, if the grid shows a page of them. */
  readonly total?: number;
  readonly selected?: ReadonlySet<number>;
  readonly class?: string;
  cell(row: number, column: number): ComponentChildren;
  /** Text for copying; without it nothing is copied. */
  text?(row: number, column: number): string;
  onOpen?(row: number, column: number): void;
  /** Cells that a click opens. Others open by a double click. */
  opensByClick?(row: number, column: number): boolean;
  /** Called for F2. Defaults to `onOpen`. */
  onEdit?(row: number, column: number): void;
  onKey?(event: KeyboardEvent, row: number, column: number): void;
  /** Called while the edge of a heading is dragged; undefined for the width of the content, after a double click. */
  onResize?(column: string, width: number | undefined): void;
}

interface Cell {
  readonly row: number;
  readonly column: number;
}

interface Range {
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
}

/** A virtualised table with the ARIA grid pattern: arrow keys move the focused cell, and copied cells paste into spreadsheets. */
export function Grid(props: GridProps) {
  const { name, columns, count, total, selected, cell, onOpen, opensByClick, class: extra } = props;
  const { frame, window, body, current, focus, isInRange, keyDown } = useGridFocus(props);
  const { first, end } = window;
  return (
    <div ref={frame} class={`grid-frame ${extra ?? ''}`} role="group" aria-label={name} tabIndex={count === 0 ? 0 : undefined}>
      <table
        class={opensByClick === undefined ? 'grid' : 'grid grid-of-buttons'}
        role="grid"
        aria-label={name}
        aria-rowcount={(total ?? count) + 1}
        aria-colcount={columns.length}
        onKeyDown={keyDown}
        onFocusIn={(event) => {
          const focused = cellAt(event.target);
          if (focused !== undefined) focus(focused);
        }}
        onClick={({ target }) => {
          const opened = cellAround(target);
          if (opened !== undefined && opensByClick?.(opened.row, opened.column) === true) onOpen?.(opened.row, opened.column);
        }}
        onDblClick={({ target }) => {
          const opened = cellAround(target);
          if (opened !== undefined && opensByClick?.(opened.row, opened.column) !== true) onOpen?.(opened.row, opened.column);
        }}
      >
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((column) => (
              <th key={column.id} scope="col" aria-sort={column.sort} class={classOf(column)} style={styleOf(column)}>
                {column.header}
                {props.onResize !== undefined && column.isNarrow !== true && (
                  <ResizeEdge onResize={(width) => props.onResize?.(column.id, width)} />
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {first > 0 && <Spacer columns={columns.length} height={first * rowHeight.value} />}
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
                    class={`${classOf(column)}${isInRange(row, c) ? ' in-range' : ''}${opensByClick?.(row, c) === true ? ' opens' : ''}`}
                    style={styleOf(column)}
                  >
                    {cell(row, c)}
                  </td>
                ))}
              </tr>
            );
          })}
          {end < count && <Spacer columns={columns.length} height={(count - end) * rowHeight.value} />}
        </tbody>
      </table>
    </div>
  );
}

/** The edge of a heading, which the pointer drags. */
function ResizeEdge({ onResize }: { onResize(width: number | undefined): void }) {
  const drag = useRef<{ readonly x: number; readonly width: number } | null>(null);
  return (
    <span
      class="resize-edge"
      aria-hidden="true"
      onPointerDown={(event) => {
        event.preventDefault();
        event.currentTarget.setPointerCapture(event.pointerId);
        drag.current = { x: event.clientX, width: event.currentTarget.parentElement?.getBoundingClientRect().width ?? 0 };
      }}
      onPointerMove={(event) => {
        if (drag.current !== null) onResize(drag.current.width + event.clientX - drag.current.x);
      }}
      onPointerUp={() => {
        drag.current = null;
      }}
      onDblClick={(event) => {
        event.stopPropagation();
        onResize(undefined);
      }}
    />
  );
}

/** Takes the place of rows that are not rendered. */
function Spacer({ columns, height }: { readonly columns: number; readonly height: number }) {
  return (
    <tr aria-hidden="true">
      <td colSpan={columns} style={{ height: `${height}px`, padding: 0 }} />
    </tr>
  );
}

/** The rendered rows, the focused cell, the selected range, and the keys that change them. */
function useGridFocus({ columns, count, text, onOpen, onEdit = onOpen, onKey }: GridProps) {
  const { value: height } = rowHeight;
  const [focused, setFocused] = useState<Cell>({ row: 0, column: 0 });
  /** Other corner of the selected range. */
  const [anchor, setAnchor] = useState<Cell | null>(null);
  const { frame, window } = useWindow(count, height, height);
  const body = useRef<HTMLTableSectionElement>(null);
  const current = { row: Math.min(focused.row, Math.max(0, count - 1)), column: Math.min(focused.column, columns.length - 1) };
  const move = (row: number, column: number, extend: boolean): void => {
    const next = { row: Math.max(0, Math.min(count - 1, row)), column: Math.max(0, Math.min(columns.length - 1, column)) };
    setAnchor(extend ? (anchor ?? current) : null);
    setFocused(next);
    if (frame.current !== null) scrollToRow(frame.current, next.row, height);
    focusAfterRendering(body, next);
  };
  const range = rangeBetween(current, anchor ?? current);
  const keyDown = (event: KeyboardEvent): void => {
    if (!(event.target instanceof HTMLElement) || event.target.dataset['cell'] === undefined) return;
    const { row, column } = current;
    const page = Math.max(1, Math.floor((frame.current?.clientHeight ?? 300) / height) - 2);
    const target = targetOfKey(event, current, { page, lastRow: count - 1, lastColumn: columns.length - 1 });
    if (target !== undefined) {
      event.preventDefault();
      move(target.row, target.column, event.shiftKey);
    } else if (event.key === 'Enter' && onOpen !== undefined) {
      event.preventDefault();
      onOpen(row, column);
    } else if (event.key === 'F2' && onEdit !== undefined) {
      event.preventDefault();
      onEdit(row, column);
    } else if (isModified(event) && event.key.toLowerCase() === 'c' && text !== undefined && String(getSelection()) === '') {
      event.preventDefault();
      void copyText(textOfRange(range, text));
    } else onKey?.(event, row, column);
  };
  const isInRange = (row: number, column: number): boolean =>
    anchor !== null && row >= range.top && row <= range.bottom && column >= range.left && column <= range.right;
  const focus = (cell: Cell): void => {
    if (focused.row !== cell.row || focused.column !== cell.column) setFocused(cell);
  };
  return { frame, window, body, current, focus, isInRange, keyDown };
}

/** Returns the cell that a key moves to, which may be outside of the grid; undefined for other keys. */
function targetOfKey(
  event: KeyboardEvent,
  { row, column }: Cell,
  { page, lastRow, lastColumn }: { readonly page: number; readonly lastRow: number; readonly lastColumn: number },
): Cell | undefined {
  switch (event.key) {
    case 'ArrowDown':
      return { row: row + 1, column };
    case 'ArrowUp':
      return { row: row - 1, column };
    case 'ArrowRight':
      return { row, column: column + 1 };
    case 'ArrowLeft':
      return { row, column: column - 1 };
    case 'PageDown':
      return { row: row + page, column };
    case 'PageUp':
      return { row: row - page, column };
    case 'Home':
      return { row: isModified(event) ? 0 : row, column: 0 };
    case 'End':
      return { row: isModified(event) ? lastRow : row, column: lastColumn };
    default:
      return undefined;
  }
}

function isModified(event: KeyboardEvent): boolean {
  return event.ctrlKey || event.metaKey;
}

function focusAfterRendering(body: { readonly current: HTMLElement | null }, { row, column }: Cell): void {
  requestAnimationFrame(() =>
    requestAnimationFrame(() =>
      body.current?.querySelector<HTMLElement>(`[data-cell="${row}:${column}"]`)?.focus({ preventScroll: false }),
    ),
  );
}

function rangeBetween(one: Cell, other: Cell): Range {
  return {
    top: Math.min(one.row, other.row),
    bottom: Math.max(one.row, other.row),
    left: Math.min(one.column, other.column),
    right: Math.max(one.column, other.column),
  };
}

function textOfRange({ top, bottom, left, right }: Range, text: (row: number, column: number) => string): string {
  const lines: string[] = [];
  for (let row = top; row <= bottom; row++) {
    const cells: string[] = [];
    for (let column = left; column <= right; column++) cells.push(text(row, column).replace(/[\t\n]/g, ' '));
    lines.push(cells.join('\t'));
  }
  return lines.join('\n');
}

/** Finds the cell of an event. The table has the listeners: one per cell would be most of the work of rendering thousands of cells. */
function cellAt(element: EventTarget | null): Cell | undefined {
  const [row, column] = element instanceof HTMLElement ? (element.dataset['cell'] ?? '').split(':') : [];
  return column === undefined ? undefined : { row: Number(row), column: Number(column) };
}

/** Returns the cell that contains the target of a click, unless a control in it handles the click. */
function cellAround(target: EventTarget | null): Cell | undefined {
  if (!(target instanceof Element) || target.closest('button, a, input') !== null) return undefined;
  return cellAt(target.closest('[data-cell]'));
}

function styleOf({ width, start, isSticky }: GridColumn): Record<string, string> | undefined {
  if (width === undefined && start === undefined) return undefined;
  return {
    ...(width === undefined ? {} : { width: `${width}px`, minWidth: `${width}px`, maxWidth: `${width}px` }),
    ...(isSticky === true && start !== undefined ? { '--start': `${start}px` } : {}),
  };
}

function classOf({ isNumber = false, isSticky = false, isNarrow = false }: GridColumn): string {
  return `${isNumber ? 'is-number' : ''}${isSticky ? ' sticky' : ''}${isNarrow ? ' is-narrow' : ''}`;
}
