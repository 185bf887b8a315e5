import type { Change } from '../../api/changes.ts';
import { memberPart, readMetadata, sectionPart, sourcePart } from '../../api/entries.ts';
import { failureOf } from '../../api/failure.ts';
import { hasOperation } from '../../api/operation-names.ts';
import { readOnlyRefusal } from '../../api/settings.ts';
import { place, setQuery } from '../../browser/place.ts';
import { attempt } from '../../features/attempt.ts';
import { SuggestedRelationships } from '../../features/relationship-suggestions.tsx';
import type { Overview, SourceOverview } from '../../model/overview.ts';
import { sourceDrop } from '../../model/source-drop.ts';
import { Button } from '../../parts/button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Lazy } from '../../parts/lazy.tsx';
import { Menu } from '../../parts/menu.tsx';
import { tabPanel, Tabs } from '../../parts/tabs.tsx';
import { showToast } from '../../parts/toast.tsx';
import { Enums, hasEnums } from '../structure/enums.tsx';
import { NewTableButton } from '../structure/new-table.tsx';
import { AllPermissions } from './all-permissions.tsx';
import { Functions } from './functions.tsx';
import { SourceTables } from './source-tables.tsx';
import { reloadSource } from './table-state.tsx';

const loadDiagram = async () => (await import('../diagram/schema-diagram.tsx')).SchemaDiagram;

/** A source: its tables, suggested relationships, permissions and functions. */
export function SourcePage({ data, source }: { readonly data: Overview; readonly source: SourceOverview }) {
  const tab = place.value.query.get('tab') ?? 'tables';
  return (
    <div class={`page ${tab === 'diagram' ? 'page-fill' : ''}`}>
      <header>
        <h1>{source.name}</h1>
        <span class="badge">{source.kind}</span>
        <span class="end row-tight">
          <NewTableButton source={source} />
          <Button icon="reload" title="reload_metadata" onClick={() => reloadSource(source.name)}>
            Reload
          </Button>
          <Menu
            icon="more"
            name="More"
            items={[
              {
                label: 'Remove source …',
                icon: 'trash',
                danger: true,
                refusal: readOnlyRefusal,
                run: () => void dropSource(source),
              },
            ]}
          />
        </span>
      </header>
      {source.unavailable !== undefined && (
        <div class="banner banner-danger" role="alert">
          <Icon name="warn" />
          <span>{source.unavailable}</span>
        </div>
      )}
      <Tabs
        name="Source"
        tabs={[
          { id: 'tables', label: 'Tables' },
          { id: 'relationships', label: 'Relationships' },
          { id: 'permissions', label: 'Permissions' },
          { id: 'diagram', label: 'Diagram' },
          ...(hasOperation(source.kind, 'track_function') ? [{ id: 'functions', label: 'Functions' }] : []),
          ...(hasEnums(source.kind) ? [{ id: 'types', label: 'Types' }] : []),
        ]}
        chosen={tab}
        onChoose={(id) => setQuery({ tab: id })}
      />
      <div {...tabPanel(tab)} class={`stack ${tab === 'diagram' ? 'fill' : ''}`}>
        {tab === 'relationships' ? (
          <SuggestedRelationships source={source} version={data.version} />
        ) : tab === 'permissions' ? (
          <AllPermissions data={data} source={source} />
        ) : tab === 'functions' && hasOperation(source.kind, 'track_function') ? (
          <Functions data={data} source={source} />
        ) : tab === 'diagram' ? (
          <Lazy load={loadDiagram} what="the diagram">
            {(SchemaDiagram) => <SchemaDiagram data={data} source={source} />}
          </Lazy>
        ) : tab === 'types' && hasEnums(source.kind) ? (
          <Enums source={source} version={data.version} />
        ) : (
          <SourceTables data={data} source={source} />
        )}
      </div>
    </div>
  );
}

async function dropSource({ name, kind, unavailable }: SourceOverview): Promise<void> {
  await attempt({
    title: `Remove source ${name}`,
    review: true,
    // The dependents of an unavailable source are unknown, so they are not dropped with it.
    steps: () => [{ type: `${kind}_drop_source`, args: { name, ...(unavailable === undefined ? { cascade: true } : {}) } }],
    ...(await undoOfDrop(name)),
  });
}

/** Reads how to restore a source and its dependents after a drop; empty if operations cannot restore all of it. */
async function undoOfDrop(name: string): Promise<Partial<Change>> {
  try {
    const { tables, remoteSchemas, affectsTypes, inverse } = sourceDrop((await readMetadata()).metadata, name);
    const remotes = remoteSchemas.map((remote) => memberPart('remote_schemas', remote));
    return { tables, parts: [sourcePart(name), ...remotes, ...(affectsTypes ? [sectionPart('custom_types')] : [])], inverse };
  } catch (error) {
    showToast(`Removing ${name} cannot be undone: ${failureOf(error).message}`, { isError: true });
    return {};
  }
}
