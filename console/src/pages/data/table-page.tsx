import { readEntries } from '../../api/entries.ts';
import { hasOperation } from '../../api/operation-names.ts';
import { readTableInfo } from '../../api/table-info.ts';
import { useResource } from '../../api/use-resource.ts';
import { hrefOf, place, setQuery } from '../../browser/place.ts';
import { InconsistencyNote } from '../../features/inconsistency-note.tsx';
import { PermissionEditor } from '../../features/permission-editor/permission-editor.tsx';
import { type Overview, type TableOverview, tableId, tableJson } from '../../model/overview.ts';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { tabPanel, Tabs } from '../../parts/tabs.tsx';
import { Browse } from './browse.tsx';
import { EntryJson } from './entry-json.tsx';
import { Fields } from './fields.tsx';
import { Relationships } from './relationships.tsx';
import { Structure } from './structure.tsx';

const TABS = [
  { id: 'browse', label: 'Browse' },
  { id: 'structure', label: 'Structure' },
  { id: 'relationships', label: 'Relationships' },
  { id: 'permissions', label: 'Permissions' },
  { id: 'fields', label: 'Computed fields' },
  { id: 'json', label: 'JSON' },
] as const;

export function TablePage({ data, table }: { readonly data: Overview; readonly table: TableOverview }) {
  const tab = place.value.query.get('tab') ?? 'browse';
  const { value, failure, reload, stop } = useResource(
    (signal) => readTableInfo(table, signal),
    `${table.source} ${tableId(table)} ${data.version}`,
    { keeps: true },
  );
  return (
    <div class={`page ${tab === 'browse' ? 'page-fill' : ''}`}>
      <header class="crumbs">
        <a href={hrefOf(['data', table.source])}>{table.source}</a>
        <Icon name="right" />
        <h1>{tableId(table)}</h1>
        {table.isView && <span class="badge">view</span>}
        {table.isEnum && <span class="badge">enum</span>}
        {table.problem !== undefined && <span class="badge badge-warn">{table.problem}</span>}
        {!table.isView && hasOperation(table.kind, 'create_event_trigger') && (
          <a
            class="button button-small button-quiet end"
            title="Event triggers of this table"
            href={hrefOf(['events', 'triggers'], { find: tableId(table) })}
          >
            <Icon name="events" />
            <span class="read-narrow">Event triggers</span> {table.triggers > 0 && <span class="badge">{table.triggers}</span>}
          </a>
        )}
      </header>
      <Tabs name="Table" tabs={TABS} chosen={tab} onChoose={(id) => setQuery({ tab: id })} />
      <div {...tabPanel(tab)} class={`stack ${tab === 'browse' ? 'fill' : ''}`}>
        {table.problem !== undefined && <InconsistencyNote isShown={(path) => isOfTable(path, table)} />}
        {failure !== undefined && <ErrorBox error={shownError(failure)} onRetry={reload} />}
        {value === undefined && failure === undefined && <Loading what={tableId(table)} onStop={stop} />}
        {failure !== undefined && value === undefined && tab === 'json' && <EntryAlone table={table} version={data.version} />}
        {value !== undefined &&
          (tab === 'structure' ? (
            <Structure table={table} info={value} onDone={reload} />
          ) : tab === 'relationships' ? (
            <Relationships data={data} table={table} info={value} />
          ) : tab === 'permissions' ? (
            <PermissionEditor data={data} table={table} info={value} />
          ) : tab === 'fields' ? (
            <Fields table={table} info={value} />
          ) : tab === 'json' ? (
            <EntryJson table={table} entry={value.entry} />
          ) : (
            <Browse table={table} info={value} />
          ))}
      </div>
    </div>
  );
}

function isOfTable([page, source, id]: readonly string[], table: TableOverview): boolean {
  return page === 'data' && source === table.source && id === tableId(table);
}

/** JSON editor for a table whose database is unreachable. */
function EntryAlone({ table, version }: { readonly table: TableOverview; readonly version: number }) {
  const { source, kind } = table;
  const { value } = useResource(
    async (signal) => (await readEntries([{ source, kind, table: tableJson(table) }], [], signal)).entries[0] ?? null,
    `${source} ${tableId(table)} ${version}`,
    { keeps: true },
  );
  return value === undefined ? null : <EntryJson table={table} entry={value} />;
}
