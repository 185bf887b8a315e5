import { place, setQuery } from '../../browser/place.ts';
import { tabPanel, Tabs } from '../../parts/tabs.tsx';
import { Exchange } from './exchange.tsx';
import { Inconsistent } from './inconsistent.tsx';
import { ReloadAndReset } from './reload-and-reset.tsx';

/** Export, import, reload and reset of the metadata, and its inconsistent objects. */
export function Metadata() {
  const tab = place.value.query.get('tab') ?? 'exchange';
  return (
    <div class="page">
      <header>
        <h1>Metadata</h1>
      </header>
      <Tabs
        name="Metadata"
        tabs={[
          { id: 'exchange', label: 'Export and import' },
          { id: 'inconsistent', label: 'Inconsistent objects' },
          { id: 'renew', label: 'Reload and reset' },
        ]}
        chosen={tab}
        onChoose={(id) => setQuery({ tab: id })}
      />
      <div {...tabPanel(tab)} class="stack">
        {tab === 'inconsistent' ? <Inconsistent /> : tab === 'renew' ? <ReloadAndReset /> : <Exchange />}
      </div>
    </div>
  );
}
