import { readTableInfo } from '../../api/table-info.ts';
import { useResource } from '../../api/use-resource.ts';
import { hrefOf, place, setQuery } from '../../browser/place.ts';
import { PermissionEditor } from '../../features/permission-editor/permission-editor.tsx';
import { type Overview, type TableOverview, tableId } from '../../model/overview.ts';
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
  { id: 'fields', label: 'Fields' },
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
      </header>
      <Tabs name="Of the table" tabs={TABS} chosen={tab} onChoose={(id) => setQuery({ tab: id })} />
      <div {...tabPanel(tab)} class={`stack ${tab === 'browse' ? 'fill' : ''}`}>
        {failure !== undefined && <ErrorBox error={shownError(failure)} onRetry={reload} />}
        {value === undefined && failure === undefined && <Loading what={tableId(table)} onStop={stop} />}
        {value !== undefined &&
          (tab === 'structure' ? (
            <Structure table={table} info={value} />
          ) : tab === 'relationships' ? (
            <Relationships data={data} table={table} info={value} />
          ) : tab === 'permissions' ? (
            <PermissionEditor data={data} table={table} info={value} />
          ) : tab === 'fields' ? (
            <Fields table={table} info={value} />
          ) : tab === 'json' ? (
            <EntryJson table={table} info={value} />
          ) : (
            <Browse table={table} info={value} />
          ))}
      </div>
    </div>
  );
}
