import { useState } from 'preact/hooks';
import { readOperation } from '../../api/metadata.ts';
import { useResource } from '../../api/use-resource.ts';
import { hrefOf, place, setQuery } from '../../browser/place.ts';
import { durationText, type RecentOperation, recentOperations, summaries } from '../../model/recent-operations.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Check, Search } from '../../parts/field.tsx';
import { ACTIONS, ListTable } from '../../parts/list-table.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { Segments } from '../../parts/tabs.tsx';

/** Maximum number of requests that are listed. */
const MAX_SHOWN = 100;

/** The last GraphQL operations of this instance, summarised or one by one. The form and the filter are in the address. */
export function Operations() {
  const { query } = place.value;
  const form = query.get('form') === 'requests' ? 'requests' : 'summary';
  const filter = query.get('find') ?? '';
  const [onlyErrors, setOnlyErrors] = useState(false);
  const { value, failure, isLoading, reload } = useResource(
    async (signal) => recentOperations(await readOperation('get_recent_operations', {}, { signal })),
    '',
  );
  const words = filter.toLowerCase();
  const found = (value ?? []).filter(
    ({ label, document, role, error }) =>
      (!onlyErrors || error !== undefined) && `${label} ${document} ${role} ${error ?? ''}`.toLowerCase().includes(words),
  );
  return (
    <>
      <div class="row">
        <Segments
          name="Operations"
          options={[
            ['summary', 'By operation'],
            ['requests', 'Requests'],
          ]}
          chosen={form}
          onChoose={(next) => setQuery({ form: next === 'requests' ? next : undefined })}
        />
        <Search name="Filter operations" value={filter} onInput={(next) => setQuery({ find: next === '' ? undefined : next })} />
        <Check label="Only errors" checked={onlyErrors} onChange={setOnlyErrors} />
        <span class="grow" />
        <Button icon="reload" refusal={isLoading ? 'Reading …' : undefined} onClick={reload}>
          Refresh
        </Button>
      </div>
      {failure !== undefined && <ErrorBox error={shownError(failure)} onRetry={reload} />}
      {value === undefined && failure === undefined && <Loading what="the operations" />}
      {value !== undefined && found.length === 0 && (
        <EmptyState icon="live" title={value.length === 0 ? 'No operations yet' : 'No matches'}>
          {value.length === 0 && 'The last 500 queries and mutations of this instance appear here, without their values.'}
        </EmptyState>
      )}
      {found.length > 0 && (form === 'summary' ? <Summary operations={found} /> : <Requests operations={found} />)}
    </>
  );
}

function Summary({ operations }: { readonly operations: readonly RecentOperation[] }) {
  return (
    <ListTable name="Operations" columns={['Operation', 'Roles', 'Requests', 'Errors', 'Median', 'Slowest']} isCard>
      {summaries(operations).map(({ type, label, roles, requests, errors, median, slowest }) => (
        <tr key={`${type} ${label}`}>
          <td class="break">
            <span class="muted">{type}</span>{' '}
            <a href={hrefOf(['live'], { tab: 'operations', form: 'requests', find: label })} title="Show its requests">
              {label.slice(0, 120)}
            </a>
          </td>
          <td class="break">{roles.join(', ')}</td>
          <td class="number">{requests}</td>
          <td class="number">{errors === 0 ? 0 : <span class="badge badge-danger">{errors}</span>}</td>
          <td class="number nowrap">{durationText(median)}</td>
          <td class="number nowrap">{durationText(slowest)}</td>
        </tr>
      ))}
    </ListTable>
  );
}

function Requests({ operations }: { readonly operations: readonly RecentOperation[] }) {
  return (
    <>
      <ListTable name="Requests" columns={['Time', 'Operation', 'Role', 'Duration', 'Result', ACTIONS]} isCard>
        {operations.slice(0, MAX_SHOWN).map(({ at, requestId, type, label, document, role, duration, error }) => (
          <tr key={`${requestId} ${at}`} title={`request ${requestId}`}>
            <td class="number nowrap">{new Date(at).toLocaleTimeString()}</td>
            <td class="break">
              <span class="muted">{type}</span> {label.slice(0, 120)}
              {document !== '' && document !== label && <p class="muted small mono">{document}</p>}
            </td>
            <td class="break">{role}</td>
            <td class="number nowrap">{durationText(duration)}</td>
            <td>{error === undefined ? <span class="badge badge-ok">ok</span> : <span class="badge badge-danger">{error}</span>}</td>
            <td>
              {document !== '' && (
                <a
                  class="button button-small"
                  href={hrefOf(['explorer'], { query: document })}
                  title="Opens the document in the Explorer, to explain it. It has no values: strings are … and numbers are 0."
                >
                  Open
                </a>
              )}
            </td>
          </tr>
        ))}
      </ListTable>
      {operations.length > MAX_SHOWN && (
        <p class="muted small">
          The newest {MAX_SHOWN} of {operations.length}. Filter to find others.
        </p>
      )}
    </>
  );
}
