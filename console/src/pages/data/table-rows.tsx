import { useState } from 'preact/hooks';
import { type Failure, failureOf } from '../../api/failure.ts';
import { persona } from '../../api/persona.ts';
import { isReadOnly } from '../../api/settings.ts';
import { type ReadableTable, whereAny } from '../../api/rows.ts';
import type { NamedTableInfo } from '../../api/table-info.ts';
import { download } from '../../browser/clipboard.ts';
import { hrefOf, setQuery } from '../../browser/place.ts';
import { cellText } from '../../model/cell-text.ts';
import type { ColumnLayout } from '../../model/column-layout.ts';
import { csvOf } from '../../model/delimited.ts';
import { printJson } from '../../model/json.ts';
import { type TableOverview, tableId } from '../../model/overview.ts';
import { isAdmin, personaLabel } from '../../model/persona.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Lazy } from '../../parts/lazy.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { FilterBar } from './filter-bar.tsx';
import { RowDialog } from './row-dialog.tsx';
import { RowsGrid } from './rows-grid.tsx';
import { SavedViews } from './saved-views.tsx';
import { SuggestReload } from './table-state.tsx';
import { useColumnLayout } from './use-column-layout.ts';
import { PAGE_SIZES, type PendingDelete, type TableRowsState, useTableRows } from './use-table-rows.ts';

const loadColumns = async () => (await import('./columns-dialog.tsx')).ColumnsDialog;
const loadEditRows = async () => (await import('./edit-rows-dialog.tsx')).EditRowsDialog;
const loadImport = async () => (await import('./import-dialog.tsx')).ImportDialog;

interface TableRowsProps {
  readonly table: TableOverview;
  readonly info: NamedTableInfo;
  readonly readable: ReadableTable;
}

interface ViewProps extends TableRowsProps {
  readonly state: TableRowsState;
}

interface ToolbarProps extends ViewProps {
  readonly layout: ColumnLayout;
  onLayout(layout: ColumnLayout): void;
  onColumns(): void;
}

export function TableRows(props: TableRowsProps) {
  const { table, info, readable } = props;
  const state = useTableRows(info, readable);
  const [layout, setLayout] = useColumnLayout(table);
  const [isArranging, setArranging] = useState(false);
  const { rows, offset, isRead, isLoading, failure, reload, stop, open, setOpen, pendingDelete, setPendingDelete } = state;
  const close = (): void => setOpen(null);
  return (
    <>
      <Toolbar {...props} state={state} layout={layout} onLayout={setLayout} onColumns={() => setArranging(true)} />
      {failure !== undefined && (
        <ErrorBox error={shownError(failure)} onRetry={reload}>
          {failure.code === 'unexpected' && <SuggestReload source={table.source} />}
        </ErrorBox>
      )}
      {!isRead && isLoading && <Loading what="the rows" onStop={stop} />}
      {isRead && rows.length === 0 && offset === 0 && <NoRows table={table} state={state} />}
      {isRead && (rows.length > 0 || offset > 0) && (
        <>
          <RowsGrid {...props} state={state} layout={layout} onLayout={setLayout} />
          <Footer state={state} />
        </>
      )}
      {open !== null && (
        <RowDialog
          table={table}
          info={info}
          readable={readable}
          key={open.copied === undefined ? 'row' : 'copy'}
          row={open.row}
          copied={open.copied}
          focus={open.column}
          onClose={close}
          onCopy={state.access?.insert === undefined || isReadOnly ? undefined : (row) => setOpen({ row: null, copied: row })}
          onWritten={(isOpen) => {
            if (!isOpen) close();
            reload();
          }}
        />
      )}
      {state.bulk !== null && (
        <Lazy load={loadEditRows}>
          {(EditRowsDialog) => (
            <EditRowsDialog table={table} info={info} keys={state.bulk ?? []} onClose={() => state.setBulk(null)} onWritten={reload} />
          )}
        </Lazy>
      )}
      {isArranging && (
        <Lazy load={loadColumns}>
          {(ColumnsDialog) => (
            <ColumnsDialog columns={readable.columns} layout={layout} onLayout={setLayout} onClose={() => setArranging(false)} />
          )}
        </Lazy>
      )}
      {state.importing !== null && (
        <Lazy load={loadImport}>
          {(ImportDialog) => (
            <ImportDialog
              table={table}
              info={info}
              text={state.importing ?? ''}
              onClose={() => state.setImporting(null)}
              onInserted={reload}
            />
          )}
        </Lazy>
      )}
      {pendingDelete !== null && (
        <DeleteDialog {...pendingDelete} onClose={() => setPendingDelete(null)} onDelete={() => state.deletePending(pendingDelete)} />
      )}
    </>
  );
}

function Toolbar({ table, info, readable, state, layout, onLayout, onColumns }: ToolbarProps) {
  const { as, where, hasFilter, columns, rows, count, reload } = state;
  const hasEstimate = !hasFilter && isAdmin(as) && info.estimatedRows !== undefined && info.estimatedRows >= 0;
  return (
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
      <span class="row-tools">
        <span class="muted small number">{rowsText(count, hasEstimate ? info.estimatedRows : undefined)}</span>
        {readable.hasAggregate && (
          <Button small kind="quiet" onClick={() => void state.countAll()}>
            Count
          </Button>
        )}
        <Button small kind="quiet" icon="reload" name="Refresh rows" onClick={reload} />
        <SavedViews table={table} layout={layout} onLayout={onLayout} />
        <Button small kind="quiet" icon="columns" onClick={onColumns}>
          Columns{layout.hidden.length > 0 ? ` (${layout.hidden.length} hidden)` : ''}
        </Button>
        <Button
          small
          kind="quiet"
          icon="upload"
          refusal={state.refusal('insert', state.access && state.access.insert !== undefined)}
          onClick={() => state.setImporting('')}
        >
          Import
        </Button>
        <Button
          small
          kind="quiet"
          icon="download"
          title="Download the rows of this page"
          onClick={() =>
            download(
              `${tableId(table)}.csv`,
              csvOf([columns, ...rows.map((row) => columns.map((name) => cellText(row[name])))]),
              'text/csv',
            )
          }
        >
          CSV
        </Button>
      </span>
    </div>
  );
}

/** Number of rows as counted, or as estimated by the database. */
function rowsText(count: string | undefined, estimate: number | undefined): string {
  if (count !== undefined) return `${BigInt(count).toLocaleString('en')} ${count === '1' ? 'row' : 'rows'}`;
  return estimate === undefined ? '' : `~ ${estimate.toLocaleString('en')} rows`;
}

function NoRows({ table, state }: Pick<ViewProps, 'table' | 'state'>) {
  const { as, hasFilter, access, refusal, setOpen } = state;
  if (hasFilter) {
    const clear = <Button onClick={() => setQuery({ where: undefined })}>Clear filter</Button>;
    return <EmptyState icon="table" title="No rows match the filter" actions={clear} />;
  }
  return (
    <EmptyState
      icon="table"
      title={isAdmin(as) ? 'The table is empty' : `${personaLabel(as)} sees no rows`}
      actions={
        <>
          <Button
            kind="primary"
            icon="plus"
            refusal={refusal('insert', access && access.insert !== undefined)}
            onClick={() => setOpen({ row: null })}
          >
            Insert row
          </Button>
          <Button icon="upload" refusal={refusal('insert', access && access.insert !== undefined)} onClick={() => state.setImporting('')}>
            Import rows
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
      }
    />
  );
}

/** Inserting, deleting and paging. */
function Footer({ state }: Pick<ViewProps, 'state'>) {
  const { where, hasFilter, rows, hasMore, offset, size, selected, access, refusal, keysOf, confirmDelete, setOpen, setBulk } = state;
  const editSelected = (): void => {
    const [first] = selected;
    if (selected.size === 1 && first !== undefined) setOpen({ row: rows[first] ?? null });
    else setBulk(keysOf(selected));
  };
  return (
    <div class="row">
      <Button
        small
        kind="primary"
        icon="plus"
        refusal={refusal('insert', access && access.insert !== undefined)}
        onClick={() => setOpen({ row: null })}
      >
        Insert
      </Button>
      <Button
        small
        icon="edit"
        refusal={selected.size === 0 ? 'Select rows first' : refusal('update', access && access.update !== undefined)}
        onClick={() => editSelected()}
      >
        Edit {selected.size > 0 ? selected.size : ''}
      </Button>
      <Button
        small
        icon="trash"
        refusal={selected.size === 0 ? 'Select rows first' : refusal('write', access?.canWrite)}
        onClick={() => void confirmDelete(whereAny(keysOf(selected)), selected.size)}
      >
        Delete {selected.size > 0 ? selected.size : ''}
      </Button>
      {hasFilter && (
        <Button small kind="quiet" refusal={refusal('write', access?.canWrite)} onClick={() => void confirmDelete(where)}>
          Delete all matching …
        </Button>
      )}
      <span class="grow" />
      <span class="muted small number">
        {offset + 1} – {offset + rows.length}
      </span>
      <Button
        small
        refusal={offset === 0 ? 'First page' : undefined}
        onClick={() => setQuery({ offset: offset - size > 0 ? String(offset - size) : undefined })}
      >
        Previous
      </Button>
      <Button small refusal={hasMore ? undefined : 'Last page'} onClick={() => setQuery({ offset: String(offset + size) })}>
        Next
      </Button>
      <select
        class="select input-small"
        aria-label="Rows per page"
        value={String(size)}
        onChange={(event) => setQuery({ size: event.currentTarget.value, offset: undefined })}
      >
        {PAGE_SIZES.map((each) => (
          <option key={each} value={String(each)}>
            {each}
          </option>
        ))}
      </select>
    </div>
  );
}

function DeleteDialog({ where, text, onClose, onDelete }: PendingDelete & { onClose(): void; onDelete(): Promise<void> }) {
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
        Deletes as <strong>{personaLabel(persona.value)}</strong>, with its permissions, where:
      </p>
      <pre class="code-block">{printJson(where, 2)}</pre>
    </Dialog>
  );
}
