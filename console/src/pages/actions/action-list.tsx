import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { hrefOf } from '../../browser/place.ts';
import { type JsonObject, objectsIn } from '../../model/json.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Search } from '../../parts/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { ListTable } from '../../parts/list-table.tsx';
import { definitionOf, kindOf, type ActionsMetadata } from './read-actions.ts';

/** Lists longer than this have a filter. */
const FILTER_FROM = 8;

/** All actions with their type, handler and state. */
export function ActionList({ all: { actions, problems }, add }: { readonly all: ActionsMetadata; readonly add: ComponentChildren }) {
  const [filter, setFilter] = useState('');
  if (actions.length === 0) {
    return (
      <EmptyState icon="actions" title="No actions" actions={add}>
        An action is a field of the API that your own code resolves. An HTTP endpoint receives the arguments, and its response is checked
        against the type that you declare.
      </EmptyState>
    );
  }
  const query = filter.toLowerCase();
  const shown = actions.filter((action) =>
    `${String(action['name'])} ${String(definitionOf(action)['handler'])} ${String(action['comment'] ?? '')}`.toLowerCase().includes(query),
  );
  return (
    <>
      {actions.length > FILTER_FROM && <Search name="Filter actions" value={filter} onInput={setFilter} />}
      <ListTable name="Actions" isCard columns={['Action', 'Type', 'Handler', 'Roles', 'Status']}>
        {shown.map((action) => (
          <Row key={String(action['name'])} action={action} problem={problems.get(String(action['name']))} />
        ))}
      </ListTable>
      {shown.length === 0 && <p class="muted">No actions match the filter.</p>}
    </>
  );
}

function Row({ action, problem }: { readonly action: JsonObject; readonly problem: string | undefined }) {
  const name = String(action['name']);
  const kind = kindOf(action);
  const roles = objectsIn(action['permissions']).length;
  return (
    <tr>
      <td>
        <a href={hrefOf(['actions', name])}>{name}</a>
        {typeof action['comment'] === 'string' && <p class="muted small">{action['comment']}</p>}
      </td>
      <td class="nowrap">
        {kind === 'query' ? 'query' : 'mutation'}{' '}
        {kind === 'query' ? '' : <span class="muted">{kind === 'asynchronous' ? 'asynchronous' : 'synchronous'}</span>}
      </td>
      <td class="mono small">{String(definitionOf(action)['handler'])}</td>
      <td class="number">{roles === 0 ? <span class="muted">none</span> : roles}</td>
      <td>
        {problem === undefined ? (
          <span class="badge badge-ok">
            <Icon name="check" />
            consistent
          </span>
        ) : (
          <>
            <span class="badge badge-danger">
              <Icon name="warn" />
              inconsistent
            </span>{' '}
            <span class="muted small">{problem}</span>
          </>
        )}
      </td>
    </tr>
  );
}
