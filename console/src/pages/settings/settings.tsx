import { place, setQuery } from '../../browser/place.ts';
import { tabPanel, Tabs } from '../../parts/tabs.tsx';
import { AllowList } from './allow-list.tsx';
import { Limits } from './limits.tsx';
import { Options } from './options.tsx';
import { TlsAndIntrospection } from './tls-and-introspection.tsx';
import { RestEndpoints } from './rest-endpoints.tsx';
import { Roles } from './roles.tsx';

const TABS = [
  ['service', 'Service', Options],
  ['roles', 'Roles', Roles],
  ['allow-list', 'Allow-list', AllowList],
  ['rest', 'REST', RestEndpoints],
  ['limits', 'API limits', Limits],
  ['outside', 'TLS and introspection', TlsAndIntrospection],
] as const;

/** Options of the service, and settings in the metadata. */
export function Settings() {
  const tab = place.value.query.get('tab');
  const [chosen, , Chosen] = TABS.find(([id]) => id === tab) ?? TABS[0];
  return (
    <div class="page">
      <header>
        <h1>Settings</h1>
      </header>
      <Tabs name="Settings" tabs={TABS.map(([id, label]) => ({ id, label }))} chosen={chosen} onChoose={(id) => setQuery({ tab: id })} />
      <div {...tabPanel(chosen)} class="stack">
        <Chosen />
      </div>
    </div>
  );
}
