import { place, setQuery } from '../../browser/place.ts';
import { tabPanel, Tabs } from '../../parts/tabs.tsx';
import { Exchange } from './exchange.tsx';
import { History } from './history.tsx';
import { Inconsistent } from './inconsistent.tsx';
import { ReloadAndReset } from './reload-and-reset.tsx';
import { RunOperation } from './run-operation.tsx';

/** Export, import, history, reload and reset of the metadata, its inconsistent objects, and single operations. */
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
          { id: 'history', label: 'History' },
          { id: 'inconsistent', label: 'Inconsistent objects' },
          { id: 'renew', label: 'Reload and reset' },
          { id: 'operation', label: 'Run an operation' },
        ]}
        chosen={tab}
        onChoose={(id) => setQuery({ tab: id })}
      />
      <div {...tabPanel(tab)} class="stack">
        {tab === 'history' ? (
          <History />
        ) : tab === 'inconsistent' ? (
          <Inconsistent />
        ) : tab === 'renew' ? (
          <ReloadAndReset />
        ) : tab === 'operation' ? (
          <RunOperation />
        ) : (
          <Exchange />
        )}
      </div>
    </div>
  );
}
