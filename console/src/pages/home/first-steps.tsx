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
      note: 'The API is generated from databases, which are called sources.',
    },
    {
      done: tables.length > 0,
      label: 'Track tables',
      href: hrefOf(['data', data.sources[0]?.name ?? '']),
      note: 'A tracked table becomes a type with queries and mutations.',
    },
    {
      done: tables.some(({ relationships }) => relationships > 0),
      label: 'Add relationships',
      href: hrefOf(['data', data.sources[0]?.name ?? ''], { tab: 'relationships' }),
      note: 'Foreign keys become nested fields.',
    },
    {
      done: data.roles.length > 0,
      label: 'Set permissions',
      href: hrefOf(['data', data.sources[0]?.name ?? ''], { tab: 'permissions' }),
      note: 'Without permissions, only administrators can use the API.',
    },
  ];
  if (steps.every(({ done }) => done)) return null;
  return (
    <Card icon="play" title="Get started">
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
