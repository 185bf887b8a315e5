import { go, place } from '../../browser/place.ts';
import { tabPanel, Tabs } from '../../parts/tabs.tsx';
import { CronTriggers } from './cron-triggers.tsx';
import { OneOffEvents } from './one-off-events.tsx';
import { TriggerPage } from './trigger-page.tsx';
import { Triggers } from './triggers.tsx';

/** Event triggers, cron triggers and one-off events. */
export function Events() {
  const [, tab = 'triggers', source, trigger] = place.value.path;
  if (tab === 'triggers' && source !== undefined && trigger !== undefined) return <TriggerPage source={source} name={trigger} />;
  return (
    <div class="page">
      <header>
        <h1>Events</h1>
      </header>
      <Tabs
        name="Event types"
        tabs={[
          { id: 'triggers', label: 'Event triggers' },
          { id: 'cron', label: 'Cron triggers' },
          { id: 'one-off', label: 'One-off events' },
        ]}
        chosen={tab}
        onChoose={(id) => go(['events', id])}
      />
      <div {...tabPanel(tab)} class="stack">
        {tab === 'cron' ? <CronTriggers /> : tab === 'one-off' ? <OneOffEvents /> : <Triggers />}
      </div>
    </div>
  );
}
