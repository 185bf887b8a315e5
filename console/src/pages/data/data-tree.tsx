import { signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { isPhone } from '../../browser/layout.ts';
import { go, hrefOf, place } from '../../browser/place.ts';
import { type Overview, type TableOverview, tableId } from '../../model/overview.ts';
import { Search } from '../../parts/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Tree, type TreeItem } from '../../parts/tree.tsx';

/** Signals, so that filter and folded sources survive a change of pages. */
const filter = signal('');
const closed = signal<ReadonlySet<string>>(new Set());

type Line =
  | {
      readonly kind: 'source';
      readonly name: string;
      readonly sort: string;
      readonly isDown: boolean;
      readonly count: number;
      readonly isClosed: boolean;
    }
  | { readonly kind: 'schema'; readonly key: string; readonly name: string; readonly count: number; readonly isClosed: boolean }
  | { readonly kind: 'table'; readonly table: TableOverview; readonly indent: number };

type LineOf<K extends Line['kind']> = Extract<Line, { readonly kind: K }>;

function linesOf({ sources }: Overview): readonly Line[] {
  const words = filter.value
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const matches = (table: TableOverview): boolean => {
    const text = `${table.source} ${tableId(table)}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  return sources.flatMap((source): readonly Line[] => {
    const found = source.tables.filter(matches);
    const isSourceClosed = closed.value.has(source.name) && words.length === 0;
    const head: Line = {
      kind: 'source',
      name: source.name,
      sort: source.kind,
      isDown: source.unavailable !== undefined,
      count: source.tables.length,
      isClosed: isSourceClosed,
    };
    if (isSourceClosed) return [head];
    const schemas = Map.groupBy(found, ({ schema }) => schema);
    const sorted = [...schemas].sort(([a], [b]) => (a < b ? -1 : 1));
    return [
      head,
      ...sorted.flatMap(([schema, tables]): readonly Line[] => {
        const key = `${source.name} ${schema}`;
        const lines = tables
          .toSorted((a, b) => (a.name < b.name ? -1 : 1))
          .map((table): Line => ({ kind: 'table', table, indent: sorted.length > 1 ? 2 : 1 }));
        if (sorted.length < 2) return lines;
        const isClosed = closed.value.has(key) && words.length === 0;
        return [{ kind: 'schema', key, name: schema, count: tables.length, isClosed }, ...(isClosed ? [] : lines)];
      }),
    ];
  });
}

function toggle(key: string): void {
  const next = new Set(closed.peek());
  if (!next.delete(key)) next.add(key);
  closed.value = next;
}

/** On a narrow page the list stays open while it has the focus. */
function closeWhenNarrow(chosen: HTMLElement): void {
  if (isPhone.peek()) chosen.blur();
}

/** The source and the table of the page. */
interface Chosen {
  readonly source: string | undefined;
  readonly id: string | undefined;
}

export function DataTree({ data, ...chosen }: Chosen & { readonly data: Overview }) {
  const lines = useMemo(() => linesOf(data), [data, filter.value, closed.value]);
  const items = useMemo(() => lines.map((line) => itemOf(line, chosen)), [lines, chosen.source, chosen.id]);
  const first = lines.find((line) => line.kind === 'table');
  return (
    <nav class="side" id="tables" aria-label="Tables">
      <div class="row-tight side-head">
        <Search
          name="Filter tables"
          value={filter.value}
          onInput={(value) => {
            filter.value = value;
          }}
          onEnter={() => {
            if (first?.kind !== 'table') return;
            go(['data', first.table.source, tableId(first.table)]);
            if (document.activeElement instanceof HTMLElement) closeWhenNarrow(document.activeElement);
          }}
        />
        <a class="button button-icon" href={hrefOf(['data', '+'])} title="Add source" aria-label="Add source">
          <Icon name="plus" />
        </a>
      </div>
      <Tree
        name="Sources and tables"
        items={items}
        content={(index) => {
          const line = lines[index];
          if (line === undefined) return null;
          return line.kind === 'table' ? <TableLine line={line} {...chosen} /> : <GroupLine line={line} {...chosen} />;
        }}
        onToggle={(index) => {
          const line = lines[index];
          if (line !== undefined && line.kind !== 'table') toggle(keyOf(line));
        }}
      />
    </nav>
  );
}

function itemOf(line: Line, { source, id }: Chosen): TreeItem {
  if (line.kind === 'table') {
    const { table, indent } = line;
    const name = tableId(table);
    return {
      key: `${table.source} ${name}`,
      label: table.name,
      level: indent + 1,
      isOpen: undefined,
      isCurrent: table.source === source && name === id,
      class: `indent-${indent}`,
      title: name,
    };
  }
  return {
    key: keyOf(line),
    label: `${line.name}, ${line.count} ${line.count === 1 ? 'table' : 'tables'}`,
    level: line.kind === 'source' ? 1 : 2,
    isOpen: !line.isClosed,
    isCurrent: line.kind === 'source' && line.name === source && id === undefined,
    class: line.kind === 'source' ? 'tree-source' : 'indent-1',
    title: line.name,
  };
}

function TableLine({ line: { table }, source, id }: Chosen & { readonly line: LineOf<'table'> }) {
  const tab = place.value.query.get('tab') ?? undefined;
  const isCurrent = table.source === source && tableId(table) === id;
  return (
    <a
      class="row-tight grow"
      tabIndex={-1}
      href={hrefOf(['data', table.source, tableId(table)], isCurrent || tab === undefined ? {} : { tab })}
      aria-current={isCurrent ? 'page' : undefined}
      onClick={(event) => closeWhenNarrow(event.currentTarget)}
    >
      <Icon name={table.problem === undefined ? (table.isView ? 'eye' : 'table') : 'warn'} />
      <span class="ellipsis">{table.name}</span>
    </a>
  );
}

function keyOf(line: LineOf<'source' | 'schema'>): string {
  return line.kind === 'source' ? line.name : line.key;
}

/** A source or a schema, which can be folded. */
function GroupLine({ line, source, id }: Chosen & { readonly line: LineOf<'source' | 'schema'> }) {
  return (
    <>
      <button
        class="twist-button"
        type="button"
        tabIndex={-1}
        aria-label={`${line.isClosed ? 'Expand' : 'Collapse'} ${line.name}`}
        onClick={() => toggle(keyOf(line))}
      >
        <Icon name={line.isClosed ? 'right' : 'down'} />
      </button>
      {line.kind === 'source' ? (
        <a
          href={hrefOf(['data', line.name])}
          class="ellipsis grow"
          tabIndex={-1}
          aria-current={source === line.name && id === undefined ? 'page' : undefined}
        >
          {line.name}
        </a>
      ) : (
        <span class="ellipsis grow">{line.name}</span>
      )}
      {line.kind === 'source' && line.isDown && <Icon name="warn" />}
      {/* Parts the number from the name, as in the label of the item. */ ' '}
      <span class="muted small number">{line.count}</span>
    </>
  );
}
