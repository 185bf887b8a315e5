import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { objectsIn } from '../../api/sections.ts';
import { hrefOf } from '../../browser/place.ts';
import type { JsonObject } from '../../model/json.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Search } from '../../parts/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { ListTable } from '../../parts/list-table.tsx';
import { definitionOf, kindOf, type Actions } from './read-actions.ts';

const MANY = 8;

/** All actions with what they are and who answers them. */
export function ActionList({ all: { actions, problems }, add }: { readonly all: Actions; readonly add: ComponentChildren }) {
  const [filter, setFilter] = useState('');
  if (actions.length === 0) {
    return (
      <EmptyState icon="actions" title="No action" actions={add}>
        An action is a field of the API that your own code answers: an HTTP endpoint gets the arguments, and its answer is checked against
        the type that you declare.
      </EmptyState>
    );
  }
  const wanted = filter.toLowerCase();
  const shown = actions.filter((action) =>
    `${String(action['name'])} ${String(definitionOf(action)['handler'])} ${String(action['comment'] ?? '')}`
      .toLowerCase()
      .includes(wanted),
  );
  return (
    <>
      {actions.length > MANY && <Search name="Filter actions" value={filter} onInput={setFilter} />}
      <ListTable name="Actions" isCard columns={['Action', 'Kind', 'Handler', 'Roles', 'State']}>
        {shown.map((action) => (
          <Row key={String(action['name'])} action={action} problem={problems.get(String(action['name']))} />
        ))}
      </ListTable>
      {shown.length === 0 && <p class="muted">No action has that in its name, handler or comment.</p>}
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
            fits
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
