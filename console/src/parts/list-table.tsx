import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

/** The heading of a column; `hidden` is for readers of screens alone. */
export type Column = string | { readonly hidden: string };

/** Of the column of what can be done with a row. */
export const ACTIONS: Column = { hidden: 'Actions' };

interface ListTableProps {
  /** What is listed, for readers of screens. */
  readonly name: string;
  readonly columns: readonly Column[];
  /** Whether it is a card of its own, rather than within one. */
  readonly isCard?: boolean;
  readonly class?: string;
  /** Its rows. */
  readonly children: ComponentChildren;
}

/** A list of things with a few facts of each. Where it is wider than the page it scrolls, by keys too. */
export function ListTable({ name, columns, isCard = false, class: extra = '', children }: ListTableProps) {
  const frame = useRef<HTMLDivElement>(null);
  const [isCut, setCut] = useState(false);
  useLayoutEffect(() => {
    const { current } = frame;
    const table = current?.firstElementChild;
    if (current === null || table === null || table === undefined) return;
    const observer = new ResizeObserver(() => setCut(current.scrollWidth > current.clientWidth));
    observer.observe(current);
    observer.observe(table);
    return () => observer.disconnect();
  }, []);
  return (
    <div ref={frame} class={`${isCard ? 'card ' : ''}table-scroll`} {...(isCut ? { role: 'region', 'aria-label': name, tabIndex: 0 } : {})}>
      <table class={`list-table ${extra}`.trimEnd()} style={headings(columns)}>
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

/** For narrow pages, where a row is a block with the heading before each value: the style takes them from here. */
function headings(columns: readonly Column[]): Record<string, string> {
  return Object.fromEntries(
    columns.map((column, index) => [`--heading-${index + 1}`, typeof column === 'string' ? JSON.stringify(column) : 'none']),
  );
}
