import { place, setQuery } from '../../browser/place.ts';
import { tabPanel, Tabs } from '../../parts/tabs.tsx';
import { Exchange } from './exchange.tsx';
import { Inconsistent } from './inconsistent.tsx';
import { Renew } from './renew.tsx';

/** The document: out, in, object by object; and what is wrong with it. */
export function Metadata() {
  const tab = place.value.query.get('tab') ?? 'exchange';
  return (
    <div class="page">
      <header>
        <h1>Metadata</h1>
      </header>
      <Tabs
        name="Of the metadata"
        tabs={[
          { id: 'exchange', label: 'Export and import' },
          { id: 'inconsistent', label: 'Inconsistent' },
          { id: 'renew', label: 'Reload and clear' },
        ]}
        chosen={tab}
        onChoose={(id) => setQuery({ tab: id })}
      />
      <div {...tabPanel(tab)} class="stack">
        {tab === 'inconsistent' ? <Inconsistent /> : tab === 'renew' ? <Renew /> : <Exchange />}
      </div>
    </div>
  );
}
