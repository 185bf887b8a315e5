import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** Heading of a column; `hidden` ones are only for screen readers. */
export type Column = string | { readonly hidden: string };

/** Column of the buttons of a row. */
export const ACTIONS: Column = { hidden: 'Actions' };

interface ListTableProps {
  /** Caption for screen readers. */
  readonly name: string;
  readonly columns: readonly Column[];
  /** True for a table outside of a card. */
  readonly isCard?: boolean;
  readonly class?: string;
  /** The rows. */
  readonly children: ComponentChildren;
}

/** A simple table. One that is wider than the page scrolls, also by keyboard. */
export function ListTable({ name, columns, isCard = false, class: extra = '', children }: ListTableProps) {
  const frame = useRef<HTMLDivElement>(null);
  const [isOverflowing, setOverflowing] = useState(false);
  useLayoutEffect(() => {
    const { current } = frame;
    const table = current?.firstElementChild;
    if (current === null || table === null || table === undefined) return;
    const observer = new ResizeObserver(() => setOverflowing(current.scrollWidth > current.clientWidth));
    observer.observe(current);
    observer.observe(table);
    return () => observer.disconnect();
  }, []);
  return (
    <div
      ref={frame}
      class={`${isCard ? 'card ' : ''}table-scroll`}
      {...(isOverflowing ? { role: 'region', 'aria-label': name, tabIndex: 0 } : {})}
    >
      <table class={`list-table ${columns.at(-1) === ACTIONS ? 'has-actions ' : ''}${extra}`.trimEnd()} style={headings(columns)}>
        <caption class="visually-hidden">{name}</caption>
        <thead class={columns.every((column) => typeof column !== 'string') ? 'visually-hidden' : undefined}>
          <tr>
            {columns.map((column) =>
              typeof column === 'string' ? (
                <th key={column} scope="col">
                  {column}
                </th>
              ) : (
                <th key={column.hidden} scope="col">
                  <span class="visually-hidden">{column.hidden}</span>
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

/** Headings as CSS variables, for narrow pages where each row is a block with a heading before each value. */
function headings(columns: readonly Column[]): Record<string, string> {
  return Object.fromEntries(
    columns.map((column, index) => [`--heading-${index + 1}`, typeof column === 'string' ? JSON.stringify(column) : 'none']),
  );
}
