import { hrefOf } from '../../browser/place.ts';
import { allTables, type Overview } from '../../model/overview.ts';
import { Icon } from '../../parts/icon.tsx';
import { Card } from './card.tsx';

/** Guide from an empty database to an API. Hidden once every step is done. */
export function FirstSteps({ data }: { readonly data: Overview }) {
  const tables = allTables(data);
  const steps = [
    {
      done: data.sources.length > 0,
      label: 'Connect a database',
      href: hrefOf(['data']),
      note: 'A source is a database that the API is made from.',
    },
    {
      done: tables.length > 0,
      label: 'Track tables',
      href: hrefOf(['data', data.sources[0]?.name ?? '']),
      note: 'A tracked table becomes a type with queries and mutations.',
    },
    {
      done: tables.some(({ relationships }) => relationships > 0),
      label: 'Relate them',
      href: hrefOf(['data', data.sources[0]?.name ?? ''], { tab: 'relationships' }),
      note: 'Foreign keys become fields that lead from row to row.',
    },
    {
      done: data.roles.length > 0,
      label: 'Permit roles',
      href: hrefOf(['data', data.sources[0]?.name ?? ''], { tab: 'permissions' }),
      note: 'Without permissions the API is for administrators alone.',
    },
  ];
  if (steps.every(({ done }) => done)) return null;
  return (
    <Card icon="play" title="From an empty database to an API">
      <ol class="steps">
        {steps.map(({ done, label, href, note }, index) => (
          <li key={label} class={done ? 'is-done' : ''}>
            <span class="mark">{done ? <Icon name="check" /> : index + 1}</span>
            <div>
              {done ? <strong>{label}</strong> : <a href={href}>{label}</a>}
              {done && <span class="visually-hidden"> (done)</span>}
              <p class="muted small">{note}</p>
            </div>
          </li>
        ))}
      </ol>
    </Card>
  );
}
