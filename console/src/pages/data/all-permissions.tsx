import { useMemo, useState } from 'preact/hooks';
import { go, hrefOf } from '../../browser/place.ts';
import { accessOf, type Overview, type SourceOverview, tableId } from '../../model/overview.ts';
import { PERMISSION_OPERATIONS, type PermissionOperation } from '../../model/table-entry.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Search } from '../../parts/field.tsx';
import { Grid } from '../../parts/grid.tsx';
import { Segments } from '../../parts/tabs.tsx';
import { AccessMark } from '../../features/permission-editor/access-mark.tsx';

/** Permissions of all tables and roles, for one operation. */
export function AllPermissions({ data, source }: { readonly data: Overview; readonly source: SourceOverview }) {
  const [operation, setOperation] = useState<PermissionOperation>('select');
  const [filter, setFilter] = useState('');
  const all = useMemo(
    () => source.tables.map((table) => ({ table, id: tableId(table) })).sort((a, b) => (a.id < b.id ? -1 : 1)),
    [source.tables],
  );
  const tables = useMemo(
    () => all.filter(({ id }) => id.toLowerCase().includes(filter.toLowerCase())).map(({ table }) => table),
    [all, filter],
  );
  if (data.roles.length === 0) {
    return (
      <EmptyState
        icon="shield"
        title="No permissions yet"
        actions={
          <a class="button" href={hrefOf(['data', source.name])}>
            Tables of {source.name}
          </a>
        }
      >
        Open a table to add a permission. A role exists once it has a permission.
      </EmptyState>
    );
  }
  const open = (row: number, column: number): void => {
    const table = tables[row];
    if (table === undefined) return;
    const role = data.roles[column - 1];
    go(['data', source.name, tableId(table)], { tab: 'permissions', ...(role === undefined ? {} : { role, operation }) });
  };
  return (
    <>
      <div class="row">
        <Segments
          name="Operation"
          options={PERMISSION_OPERATIONS.map((each) => [each, each] as const)}
          chosen={operation}
          onChoose={setOperation}
        />
        <Search name="Filter permissions by table" value={filter} onInput={setFilter} />
      </div>
      <Grid
        name={`${operation} permissions`}
        class="grid-tall"
        columns={[{ id: '', header: 'Table', isSticky: true }, ...data.roles.map((role) => ({ id: role, header: role }))]}
        count={tables.length}
        cell={(row, column) => {
          const table = tables[row];
          const role = data.roles[column - 1];
          if (table === undefined) return null;
          return role === undefined ? tableId(table) : <AccessMark access={accessOf(data, table, role, operation)} />;
        }}
        opensByClick={() => true}
        onOpen={open}
      />
      <p class="muted small">Click a cell, or press Enter in it, to edit its permission. The name of a table opens its page.</p>
    </>
  );
}
