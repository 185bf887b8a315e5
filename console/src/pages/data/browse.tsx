import { useState } from 'preact/hooks';
import { type Failure, failureOf } from '../../api/failure.ts';
import { persona } from '../../api/persona.ts';
import { countRows, deleteRows, type ReadableTable, readableTable, readRows, updateRow, whereAny } from '../../api/rows.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import type { NamedTableInfo, TableInfo } from '../../api/table-info.ts';
import { typeNamed } from '../../api/types.ts';
import { useResource } from '../../api/use-resource.ts';
import { download } from '../../browser/clipboard.ts';
import { hrefOf, place, setQuery } from '../../browser/place.ts';
import { cellText } from '../../model/cell-text.ts';
import { csvOf } from '../../model/delimited.ts';
import { isList, isObject, type Json, type JsonObject, parseJson, printJson } from '../../model/json.ts';
import { type TableOverview, tableId } from '../../model/overview.ts';
import { isAdmin, personaLabel } from '../../model/persona.ts';
import { labelOf } from '../../model/steps.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Grid } from '../../parts/grid.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { tell } from '../../parts/toast.tsx';
import { CellEditor } from './cell-editor.tsx';
import { FilterBar } from './filter-bar.tsx';
import { RowDialog } from './row-dialog.tsx';

const SIZES = [50, 200, 1000] as const;
const LONGEST_SHOWN = 200;

/** The rows of a table, as the persona sees them. Everything done to them is done as the persona too. */
export function Browse({ table, info }: { readonly table: TableOverview; readonly info: TableInfo }) {
  const { names } = info;
  if (names === undefined) {
    return (
      <EmptyState icon="warn" title="GraphQL does not have this table">
        Its name cannot be one of GraphQL’s: give it another one under Structure.
      </EmptyState>
    );
  }
  return <BrowseTable table={table} info={{ ...info, names }} />;
}

function BrowseTable({ table, info }: { readonly table: TableOverview; readonly info: NamedTableInfo }) {
  const as = persona.value;
  const {
    value: readable,
    failure,
    reload,
  } = useResource(
    () =>
      readableTable(as, info.names).then((found) => ({
        found: found === undefined ? undefined : { ...found, columns: inTableOrder(found.columns, info) },
      })),
    `${JSON.stringify(as)} ${info.names.type} ${info.version}`,
  );
  if (failure !== undefined) return <ErrorBox error={shownError(failure)} onRetry={reload} />;
  if (readable === undefined) return <Loading what="the columns" />;
  if (readable.found === undefined) {
    return (
      <EmptyState
        icon="shield"
        title={`${personaLabel(as)} may not select from ${tableId(table)}`}
        actions={
          <a
            class="button button-primary"
            href={hrefOf(['data', table.source, tableId(table)], { tab: 'permissions', role: as.role, operation: 'select' })}
          >
            Grant it
          </a>
        }
      >
        A role sees the rows and columns that a select permission gives it.
      </EmptyState>
    );
  }
  return <Rows key={JSON.stringify(as)} table={table} info={info} readable={readable.found} />;
}

/** As in the database, those of no column last: a schema has them by the alphabet. */
function inTableOrder(columns: ReadableTable['columns'], { columnNames }: NamedTableInfo): ReadableTable['columns'] {
  const places = new Map([...columnNames.values()].map((name, index) => [name, index]));
  return columns.toSorted((a, b) => (places.get(a.name) ?? places.size) - (places.get(b.name) ?? places.size));
}

function filterInPlace(): JsonObject {
  try {
    const json = parseJson(place.value.query.get('where') ?? '{}');
    return isObject(json) ? json : {};
  } catch {
    return {};
  }
}

function Rows({
  table,
  info,
  readable,
}: {
  readonly table: TableOverview;
  readonly info: NamedTableInfo;
  readonly readable: ReadableTable;
}) {
  const as = persona.value;
  const { query } = place.value;
  const where = filterInPlace();
  const names = readable.columns.map(({ name }) => name);
  const orderText = query.get('order') ?? '';
  const order = orderText
    .split(',')
    .map((part) => part.split('.') as [string, string])
    .filter(([column]) => names.includes(column))
    .map(([column, direction]) => [column, direction === 'desc' ? 'desc' : 'asc'] as const);
  const size = SIZES.find((each) => String(each) === query.get('size')) ?? SIZES[0];
  const offset = Math.max(0, Number(query.get('offset') ?? 0) || 0);
  const key = info.primaryKey.map((column) => info.columnNames.get(column) ?? column);
  const hasKey = key.length > 0 && key.every((column) => names.includes(column));
  const [selected, setSelected] = useState<ReadonlySet<number>>(new Set());
  const [open, setOpen] = useState<'insert' | { readonly row: JsonObject; readonly column: string | undefined } | null>(null);
  const [editing, setEditing] = useState<{ readonly row: number; readonly column: string } | null>(null);
  const [asking, setAsking] = useState<{ readonly where: JsonObject; readonly text: string } | null>(null);
  const [count, setCount] = useState<string>();
  const { value, failure, isLoading, reload, stop } = useResource(
    async (signal) => {
      const rows = await readRows(
        as,
        info.names,
        names,
        {
          where,
          order: order.length > 0 ? order : key.map((column) => [column, 'asc'] as const).filter(() => hasKey),
          limit: size + 1,
          offset,
        },
        signal,
      );
      setSelected(new Set());
      return { rows: rows.slice(0, size), hasMore: rows.length > size };
    },
    printJson([where, orderText, size, offset]),
  );
  const rows = value?.rows ?? [];
  const rights = useResource(
    async () => {
      const { insertInput, setInput, mutationResponse } = info.names;
      const [insert, update, response] = await Promise.all([
        insertInput === undefined ? undefined : typeNamed(as, insertInput),
        setInput === undefined ? undefined : typeNamed(as, setInput),
        typeNamed(as, mutationResponse),
      ]);
      return { insert, update, canWrite: response !== undefined };
    },
    `${JSON.stringify(as)} ${info.version}`,
  ).value;
  const refuse = (what: string, has: boolean | undefined): string | undefined =>
    isReadOnly ? READ_ONLY_REASON : has === false ? `${personaLabel(as)} may not ${what} here` : undefined;
  const toggleSort = (column: string): void => {
    const [current] = order;
    const next = current?.[0] !== column ? `${column}.asc` : current[1] === 'asc' ? `${column}.desc` : undefined;
    setQuery({ order: next, offset: undefined });
  };
  const foreign = new Map(
    info.foreignKeys.flatMap(({ table: to, columns }) => {
      const [only] = columns;
      return columns.length === 1 && only !== undefined
        ? [[info.columnNames.get(only[0]) ?? only[0], { to, column: only[1] }] as const]
        : [];
    }),
  );
  const hasFilter = Object.keys(where).length > 0;
  const keysOf = (indices: Iterable<number>): readonly JsonObject[] =>
    [...indices].map((index) => Object.fromEntries(key.map((column) => [column, rows[index]?.[column] ?? null])));
  const askToDelete = async (condition: JsonObject, known?: number): Promise<void> => {
    const found = known ?? (readable.hasAggregate ? await countRows(as, info.names, condition).catch(() => 'the') : 'the');
    setAsking({ where: condition, text: `${found} ${found === 1 || found === '1' ? 'row' : 'rows'}` });
  };
  const canEdit = (column: string): boolean => hasKey && !isReadOnly && rights?.update?.inputFields.has(column) === true;
  const write = async (row: number, column: string, json: Json): Promise<void> => {
    const [found] = keysOf([row]);
    const done = found === undefined ? 0 : await updateRow(as, info.names, found, { [column]: json });
    if (done === 0) throw new Error(`Nothing was changed: ${personaLabel(as)} may not change this row, or it is gone.`);
    setEditing(null);
    tell('Changed the row');
    reload();
  };
  const counted = async (): Promise<void> => {
    try {
      setCount(await countRows(as, info.names, where));
    } catch (error) {
      tell(failureOf(error).message, { isWrong: true });
    }
  };
  return (
    <>
      <div class="row">
        {!isAdmin(as) && (
          <span class="badge badge-warn">
            <Icon name="user" />
            as {personaLabel(as)}
          </span>
        )}
        <FilterBar
          where={where}
          columns={readable.columns}
          info={info}
          onChange={(next) => setQuery({ where: Object.keys(next).length === 0 ? undefined : printJson(next), offset: undefined })}
        />
        <span class="grow" />
        <span class="muted small number">
          {count !== undefined
            ? `${count} rows`
            : !hasFilter && isAdmin(as) && info.estimatedRows !== undefined && info.estimatedRows >= 0
              ? `~ ${info.estimatedRows} rows`
              : ''}
        </span>
        {readable.hasAggregate && (
          <Button small kind="quiet" onClick={() => void counted()}>
            Count
          </Button>
        )}
        <Button small kind="quiet" icon="reload" name="Read the rows again" onClick={reload} />
        <Button
          small
          kind="quiet"
          icon="download"
          title="The rows of this page, as the persona sees them"
          onClick={() =>
            download(`${tableId(table)}.csv`, csvOf([names, ...rows.map((row) => names.map((name) => cellText(row[name])))]), 'text/csv')
          }
        >
          CSV
        </Button>
      </div>
      {failure !== undefined && <ErrorBox error={shownError(failure)} onRetry={reload} />}
      {value === undefined && isLoading && <Loading what="the rows" onStop={stop} />}
      {value !== undefined && rows.length === 0 && offset === 0 ? (
        <EmptyState
          icon="table"
          title={hasFilter ? 'No row matches the filter' : isAdmin(as) ? 'The table is empty' : `${personaLabel(as)} sees no row`}
          actions={
            hasFilter ? (
              <Button onClick={() => setQuery({ where: undefined })}>Clear the filter</Button>
            ) : (
              <>
                <Button
                  kind="primary"
                  icon="plus"
                  refusal={refuse('insert', rights && rights.insert !== undefined)}
                  onClick={() => setOpen('insert')}
                >
                  Insert a row
                </Button>
                {!isAdmin(as) && (
                  <a
                    class="button"
                    href={hrefOf(['data', table.source, tableId(table)], { tab: 'permissions', role: as.role, operation: 'select' })}
                  >
                    Why?
                  </a>
                )}
              </>
            )
          }
        />
      ) : (
        value !== undefined && (
          <Grid
            name={`Rows of ${tableId(table)}`}
            class={`grid-fill${isLoading ? ' is-old' : ''}`}
            columns={[
              ...(hasKey ? [{ id: ' ', header: <span class="visually-hidden">Selected</span>, isSticky: true, isNarrow: true }] : []),
              ...readable.columns.map(({ name, type, isNumber }) => {
                const sorted = order.find(([column]) => column === name)?.[1];
                return {
                  id: name,
                  isNumber,
                  sort: sorted === 'asc' ? ('ascending' as const) : sorted === 'desc' ? ('descending' as const) : ('none' as const),
                  header: (
                    <button type="button" class="sort" title={`Sort by ${name}`} onClick={() => toggleSort(name)}>
                      {name} <span class="type">{type.text.replaceAll('!', '')}</span>
                      {sorted !== undefined && <Icon name={sorted === 'asc' ? 'up' : 'down'} />}
                    </button>
                  ),
                };
              }),
            ]}
            count={rows.length}
            selected={selected}
            cell={(row, index) => {
              const column = readable.columns[index - (hasKey ? 1 : 0)];
              if (column === undefined) {
                return (
                  <input
                    type="checkbox"
                    class="tick"
                    tabIndex={-1}
                    aria-label={`Select row ${row + 1}`}
                    checked={selected.has(row)}
                    onChange={(event) => {
                      const next = new Set(selected);
                      if (event.currentTarget.checked) next.add(row);
                      else next.delete(row);
                      setSelected(next);
                    }}
                  />
                );
              }
              const json = rows[row]?.[column.name] ?? null;
              const type = rights?.update?.inputFields.get(column.name);
              if (editing !== null && editing.row === row && editing.column === column.name && type !== undefined) {
                return (
                  <CellEditor
                    column={column.name}
                    json={json}
                    type={type}
                    isNullable={info.columns.some((each) => each.isNullable && info.columnNames.get(each.name) === column.name)}
                    onSave={(next) => write(row, column.name, next)}
                    onCancel={() => setEditing(null)}
                  />
                );
              }
              const link = foreign.get(column.name);
              return (
                <>
                  <Value json={json} />
                  {link !== undefined && json !== null && (
                    <a
                      class="cell-link"
                      tabIndex={-1}
                      title={`The row of ${labelOf(link.to)}`}
                      aria-label={`The row of ${labelOf(link.to)}`}
                      href={hrefOf(['data', table.source, labelOf(link.to)], { where: printJson({ [link.column]: { _eq: json } }) })}
                    >
                      <Icon name="right" />
                    </a>
                  )}
                </>
              );
            }}
            text={(row, index) => cellText(rows[row]?.[readable.columns[index - (hasKey ? 1 : 0)]?.name ?? ''] ?? null) ?? ''}
            onOpen={(row, index) => {
              const found = rows[row];
              if (found !== undefined) setOpen({ row: found, column: readable.columns[index - (hasKey ? 1 : 0)]?.name });
            }}
            onEdit={(row, index) => {
              const found = rows[row];
              const column = readable.columns[index - (hasKey ? 1 : 0)]?.name;
              if (found === undefined) return;
              if (column !== undefined && fitsItsCell(found[column]) && canEdit(column)) setEditing({ row, column });
              else setOpen({ row: found, column });
            }}
            onKey={(event, row) => {
              if (event.key === ' ' && hasKey) {
                event.preventDefault();
                const next = new Set(selected);
                if (!next.delete(row)) next.add(row);
                setSelected(next);
              } else if (event.key === 'Delete' && hasKey && !isReadOnly)
                void askToDelete(whereAny(keysOf(selected.size > 0 ? selected : [row])), Math.max(1, selected.size));
            }}
          />
        )
      )}
      {value !== undefined && (rows.length > 0 || offset > 0) && (
        <div class="row">
          <Button
            small
            kind="primary"
            icon="plus"
            refusal={refuse('insert', rights && rights.insert !== undefined)}
            onClick={() => setOpen('insert')}
          >
            Insert
          </Button>
          <Button
            small
            icon="trash"
            refusal={selected.size === 0 ? 'No row is selected' : refuse('write', rights?.canWrite)}
            onClick={() => void askToDelete(whereAny(keysOf(selected)), selected.size)}
          >
            Delete {selected.size > 0 ? selected.size : ''}
          </Button>
          {hasFilter && (
            <Button small kind="quiet" refusal={refuse('write', rights?.canWrite)} onClick={() => void askToDelete(where)}>
              Delete all matching …
            </Button>
          )}
          <span class="grow" />
          <span class="muted small number">
            {offset + 1} – {offset + rows.length}
          </span>
          <Button
            small
            refusal={offset === 0 ? 'This is the first page' : undefined}
            onClick={() => setQuery({ offset: offset - size > 0 ? String(offset - size) : undefined })}
          >
            Previous
          </Button>
          <Button
            small
            refusal={value.hasMore ? undefined : 'This is the last page'}
            onClick={() => setQuery({ offset: String(offset + size) })}
          >
            Next
          </Button>
          <select
            class="select input-small"
            aria-label="Rows on a page"
            value={String(size)}
            onChange={(event) => setQuery({ size: event.currentTarget.value, offset: undefined })}
          >
            {SIZES.map((each) => (
              <option key={each} value={String(each)}>
                {each}
              </option>
            ))}
          </select>
        </div>
      )}
      {open !== null && (
        <RowDialog
          table={table}
          info={info}
          readable={readable}
          row={open === 'insert' ? null : open.row}
          focus={open === 'insert' ? undefined : open.column}
          onClose={() => setOpen(null)}
          onWritten={() => {
            setOpen(null);
            reload();
          }}
        />
      )}
      {asking !== null && (
        <DeleteDialog
          {...asking}
          onClose={() => setAsking(null)}
          onDelete={async () => {
            const done = await deleteRows(as, info.names, asking.where);
            setAsking(null);
            tell(`Deleted ${done} ${done === 1 ? 'row' : 'rows'}`);
            reload();
          }}
        />
      )}
    </>
  );
}

function DeleteDialog({
  where,
  text,
  onClose,
  onDelete,
}: {
  readonly where: JsonObject;
  readonly text: string;
  onClose(): void;
  onDelete(): Promise<void>;
}) {
  const [failure, setFailure] = useState<Failure>();
  const remove = (): void => void onDelete().catch((error) => setFailure(failureOf(error)));
  return (
    <Dialog
      title={`Delete ${text}?`}
      onClose={onClose}
      footer={
        <>
          <Button kind="danger" onClick={remove}>
            Delete
          </Button>
          <Button onClick={onClose} autofocus>
            Cancel
          </Button>
        </>
      }
    >
      {failure !== undefined && <ErrorBox error={shownError(failure)} />}
      <p>
        As <strong>{personaLabel(persona.value)}</strong>, through its permissions, where:
      </p>
      <pre class="code-block">{printJson(where, 2)}</pre>
    </Dialog>
  );
}

/** What is long, or has lines or parts, is edited with the whole row. */
function fitsItsCell(json: Json | undefined): boolean {
  return !isObject(json) && !isList(json) && !/\n/.test(cellText(json) ?? '') && (cellText(json) ?? '').length <= LONGEST_SHOWN;
}

function Value({ json }: { readonly json: Json }) {
  const text = cellText(json);
  if (text === null) return <span class="null">null</span>;
  if (text === '') return <span class="null">empty</span>;
  return <>{text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text}</>;
}
