import { useMemo } from 'preact/hooks';
import { hasOperation } from '../../api/operation-names.ts';
import { isReadOnly, READ_ONLY_REASON, readOnlyRefusal } from '../../api/settings.ts';
import { hrefOf } from '../../browser/place.ts';
import { type Overview, type SourceOverview, tableId } from '../../model/overview.ts';
import { labelOf } from '../../model/steps.ts';
import { useAfterDrawn } from '../../parts/after-drawn.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Check, Search } from '../../parts/field.tsx';
import { ACTIONS, ListTable } from '../../parts/list-table.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { untrackTable } from './table-state.tsx';
import { type TableTracking, useTableTracking } from './use-table-tracking.ts';

/** Maximum of tracked tables listed here; the tree beside the page has all of them. */
const LISTED = 50;
/** Tables drawn at first; the others follow once these are on screen. */
const LISTED_FIRST = 15;
const UNTRACKED_LISTED = 100;

/** Untracked and tracked tables of a source. */
export function SourceTables({ data, source }: { readonly data: Overview; readonly source: SourceOverview }) {
  const tracking = useTableTracking(data, source);
  return (
    <>
      <UntrackedTables source={source} tracking={tracking} />
      <TrackedTables source={source} />
    </>
  );
}

function UntrackedTables({ source, tracking }: { readonly source: SourceOverview; readonly tracking: TableTracking }) {
  const { tables, failure, isLoading, reload, untracked, filter, setFilter } = tracking;
  return (
    <section class="card">
      <header>
        <h2 class="grow">Untracked {tables !== undefined && <span class="badge">{untracked.length}</span>}</h2>
        <Button icon="reload" kind="quiet" small name="Refresh list" onClick={reload} />
      </header>
      {failure !== undefined && <ErrorBox error={shownError(failure)} onRetry={reload} />}
      {tables === undefined && isLoading && <Loading what="the tables of the database" />}
      {tables !== undefined && untracked.length === 0 && filter === '' && (
        <p class="muted">
          {tables.length === 0 ? (
            <>
              The database has no tables yet. Create one with <strong>New table</strong>, or several on the{' '}
              <a href={hrefOf(['sql'], { source: source.name })}>SQL page</a>.
            </>
          ) : (
            'All tables of the database are tracked.'
          )}
        </p>
      )}
      {(untracked.length > 0 || filter !== '') && (
        <div class="stack">
          {untracked.length > 12 || filter !== '' ? <Search name="Filter untracked tables" value={filter} onInput={setFilter} /> : null}
          <ul class="check-list">
            {untracked.slice(0, UNTRACKED_LISTED).map((table) => {
              const id = labelOf(table);
              const type = typeof table['type'] === 'string' && table['type'] !== 'table' ? table['type'] : undefined;
              return (
                <li key={id}>
                  <Check
                    label={
                      <>
                        {id} {type !== undefined && <span class="muted small">{type}</span>}
                      </>
                    }
                    checked={tracking.isSelected(id)}
                    onChange={(on) => tracking.select(id, on)}
                  />
                </li>
              );
            })}
          </ul>
          {untracked.length > UNTRACKED_LISTED && (
            <p class="muted small">And {untracked.length - UNTRACKED_LISTED} more. Use the filter to select them.</p>
          )}
          <TrackActions kind={source.kind} tracking={tracking} />
        </div>
      )}
    </section>
  );
}

function TrackActions({ kind, tracking }: { readonly kind: string; readonly tracking: TableTracking }) {
  const { chosen, hasNone, withRelationships, setWithRelationships } = tracking;
  return (
    <div class="row">
      <Button
        kind="primary"
        title={`${kind}_track_tables`}
        refusal={isReadOnly ? READ_ONLY_REASON : chosen.length === 0 ? 'Select a table' : undefined}
        onClick={() => void tracking.track()}
      >
        Track {chosen.length} {chosen.length === 1 ? 'table' : 'tables'}
      </Button>
      <Button small kind="quiet" onClick={hasNone ? tracking.selectAll : tracking.selectNone}>
        {hasNone ? 'Select all' : 'Select none'}
      </Button>
      {hasOperation(kind, 'suggest_relationships') && (
        <Check label="Add relationships from foreign keys" checked={withRelationships} onChange={setWithRelationships} />
      )}
    </div>
  );
}

function TrackedTables({ source }: { readonly source: SourceOverview }) {
  const isDrawn = useAfterDrawn();
  const listed = useMemo(() => {
    const named = source.tables.map((table) => [tableId(table), table] as const);
    return named.toSorted(([a], [b]) => (a < b ? -1 : 1)).slice(0, LISTED);
  }, [source.tables]);
  return (
    <section class="card">
      <header>
        <h2 class="grow">
          Tracked <span class="badge">{source.tables.length}</span>
        </h2>
      </header>
      {source.tables.length === 0 ? (
        <EmptyState icon="table" title="No tracked tables">
          Tracked tables become types of the GraphQL API.
        </EmptyState>
      ) : (
        <ListTable name="Tracked tables" columns={['Table', 'Relationships', 'Roles', ACTIONS]}>
          {listed.slice(0, isDrawn ? LISTED : LISTED_FIRST).map(([id, table]) => (
            <tr key={id}>
              <td>
                <a href={hrefOf(['data', source.name, id])}>{id}</a>
                {table.problem !== undefined && <span class="badge badge-warn">{table.problem}</span>}
              </td>
              <td class="number">{table.relationships}</td>
              <td class="number">{[...table.granted].filter((digit) => digit !== '0').length || <span class="muted">none</span>}</td>
              <td class="nowrap">
                <Button small kind="quiet" refusal={readOnlyRefusal} onClick={() => void untrackTable(source, table)}>
                  Untrack …
                </Button>
              </td>
            </tr>
          ))}
        </ListTable>
      )}
      {source.tables.length > LISTED && <p class="muted small">And {source.tables.length - LISTED} more in the list on the left.</p>}
    </section>
  );
}
