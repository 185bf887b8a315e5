import { place, setQuery } from '../../browser/place.ts';
import { tabPanel, Tabs } from '../../parts/tabs.tsx';
import { Connections } from './connections.tsx';
import { Operations } from './operations.tsx';
import { Subscriptions } from './subscriptions.tsx';

const TABS = [
  { id: 'subscriptions', label: 'Subscriptions' },
  { id: 'operations', label: 'Operations' },
  { id: 'connections', label: 'Connections' },
] as const;

/** Active subscriptions, last operations and connections of this instance. */
export function Live() {
  const asked = place.value.query.get('tab');
  const tab = TABS.find(({ id }) => id === asked)?.id ?? 'subscriptions';
  return (
    <div class="page">
      <header>
        <h1>Live</h1>
      </header>
      <Tabs name="Live" tabs={TABS} chosen={tab} onChoose={(id) => setQuery({ tab: id === 'subscriptions' ? undefined : id })} />
      <div {...tabPanel(tab)} class="stack">
        {tab === 'operations' ? <Operations /> : tab === 'connections' ? <Connections /> : <Subscriptions />}
      </div>
    </div>
  );
}
