import { place, setQuery } from '../../browser/place.ts';
import { tabPanel, Tabs } from '../../parts/tabs.tsx';
import { AllowList } from './allow-list.tsx';
import { Limits } from './limits.tsx';
import { Options } from './options.tsx';
import { Outside } from './outside.tsx';
import { RestEndpoints } from './rest-endpoints.tsx';
import { Roles } from './roles.tsx';

const TABS = [
  ['service', 'Service', Options],
  ['roles', 'Roles', Roles],
  ['allow-list', 'Allow-list', AllowList],
  ['rest', 'REST', RestEndpoints],
  ['limits', 'Limits', Limits],
  ['outside', 'TLS and introspection', Outside],
] as const;

/** How the service was started, and what the metadata says of all of it. */
export function Settings() {
  const given = place.value.query.get('tab');
  const [chosen, , Chosen] = TABS.find(([id]) => id === given) ?? TABS[0];
  return (
    <div class="page">
      <header>
        <h1>Settings</h1>
      </header>
      <Tabs
        name="Of the settings"
        tabs={TABS.map(([id, label]) => ({ id, label }))}
        chosen={chosen}
        onChoose={(id) => setQuery({ tab: id })}
      />
      <div {...tabPanel(chosen)} class="stack">
        <Chosen />
      </div>
    </div>
  );
}
