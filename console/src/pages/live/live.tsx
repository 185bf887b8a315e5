import { place, setQuery } from '../../browser/place.ts';
import { tabPanel, Tabs } from '../../parts/tabs.tsx';
import { Operations } from './operations.tsx';
import { Subscriptions } from './subscriptions.tsx';

const TABS = [
  { id: 'subscriptions', label: 'Subscriptions' },
  { id: 'operations', label: 'Operations' },
] as const;

/** Active subscriptions and last operations of this instance. */
export function Live() {
  const tab = place.value.query.get('tab') === 'operations' ? 'operations' : 'subscriptions';
  return (
    <div class="page">
      <header>
        <h1>Live</h1>
      </header>
      <Tabs name="Live" tabs={TABS} chosen={tab} onChoose={(id) => setQuery({ tab: id === 'operations' ? id : undefined })} />
      <div {...tabPanel(tab)} class="stack">
        {tab === 'operations' ? <Operations /> : <Subscriptions />}
      </div>
    </div>
  );
}
