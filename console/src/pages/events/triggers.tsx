import { useState } from 'preact/hooks';
import { readOperation } from '../../api/metadata.ts';
import { overview } from '../../api/overview.ts';
import { readOnlyRefusal } from '../../api/settings.ts';
import { useResource } from '../../api/use-resource.ts';
import { hrefOf, place, setQuery } from '../../browser/place.ts';
import { isObject, type JsonObject, objectsIn } from '../../model/json.ts';
import { labelOf } from '../../model/steps.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Search } from '../../parts/field.tsx';
import { ListTable } from '../../parts/list-table.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { NewTrigger } from './new-trigger.tsx';

/** Event triggers with the number of their events in the last 24 hours. The filter is in the address; tables link to theirs. */
export function Triggers() {
  const filter = place.value.query.get('find') ?? '';
  const [isAdding, setAdding] = useState(false);
  const { value, failure, isLoading, reload, stop } = useResource(async (signal) => {
    const json = await readOperation('get_event_summary', {}, { signal });
    return isObject(json) ? objectsIn(json['event_triggers']) : [];
  }, `${overview.value?.version}`);
  const add = (
    <Button kind="primary" icon="plus" refusal={readOnlyRefusal} onClick={() => setAdding(true)}>
      New event trigger
    </Button>
  );
  const shown = (value ?? []).filter(({ name, table }) =>
    `${String(name)} ${labelOf(table ?? '')}`.toLowerCase().includes(filter.toLowerCase()),
  );
  return (
    <>
      {isAdding && <NewTrigger table={filter} onClose={() => setAdding(false)} />}
      {failure !== undefined && <ErrorBox error={shownError(failure)} onRetry={reload} />}
      {value === undefined && isLoading && <Loading what="the event triggers" onStop={stop} />}
      {value?.length === 0 && (
        <EmptyState icon="events" title="No event triggers" actions={add}>
          An event trigger calls a webhook for each inserted, updated or deleted row of a table.
        </EmptyState>
      )}
      {value !== undefined && value.length > 0 && (
        <>
          <div class="row">
            <Search name="Filter triggers" value={filter} onInput={(next) => setQuery({ find: next === '' ? undefined : next })} />
            <Button icon="reload" name="Refresh counts" onClick={reload} />
            {add}
          </div>
          {shown.length === 0 ? (
            <EmptyState
              icon="events"
              title="No matches"
              actions={<Button onClick={() => setQuery({ find: undefined })}>Clear filter</Button>}
            >
              No event trigger or table has “{filter}” in its name.
            </EmptyState>
          ) : (
            <ListTable
              name="Event triggers and their events in the last 24 hours"
              columns={['Trigger', 'Table', 'Delivered (24 h)', 'Failed (24 h)', 'Pending']}
              isCard
            >
              {shown.map((trigger) => (
                <Row key={`${String(trigger['source'])} ${String(trigger['name'])}`} trigger={trigger} />
              ))}
            </ListTable>
          )}
        </>
      )}
    </>
  );
}

function Row({ trigger }: { readonly trigger: JsonObject }) {
  const { name, source, table, delivered, failed, pending, oldest_pending: oldest, error } = trigger;
  const href = (state?: string): string => hrefOf(['events', 'triggers', String(source), String(name)], { state });
  return (
    <tr>
      <td>
        <a href={href()}>{String(name)}</a>
      </td>
      <td>
        <a href={hrefOf(['data', String(source), labelOf(table ?? '')])}>{labelOf(table ?? '')}</a>{' '}
        <span class="muted">{String(source)}</span>
      </td>
      {typeof error === 'string' ? (
        <td colSpan={3}>
          <span class="badge badge-danger">unknown</span> <span class="muted small">{error}</span>
        </td>
      ) : (
        <>
          <td class="number">{String(delivered)}</td>
          <td class="number">
            {failed === 0 ? (
              '0'
            ) : (
              <a class="badge badge-danger" href={href('error')}>
                {String(failed)} failed
              </a>
            )}
          </td>
          <td class="number">
            {pending === 0 ? '0' : <a href={href('pending')}>{String(pending)}</a>}
            {typeof oldest === 'string' && <span class="muted small"> since {new Date(oldest).toLocaleString()}</span>}
          </td>
        </>
      )}
    </tr>
  );
}
