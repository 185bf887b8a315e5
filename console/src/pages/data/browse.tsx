import { persona } from '../../api/persona.ts';
import { type ReadableTable, readableTable } from '../../api/rows.ts';
import type { NamedTableInfo, TableInfo } from '../../api/table-info.ts';
import { useResource } from '../../api/use-resource.ts';
import { hrefOf } from '../../browser/place.ts';
import { type TableOverview, tableId } from '../../model/overview.ts';
import { personaLabel } from '../../model/persona.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { TableRows } from './table-rows.tsx';
import { GoneTable } from './table-state.tsx';

/** Rows of a table, read and written as the persona. */
export function Browse({ table, info }: { readonly table: TableOverview; readonly info: TableInfo }) {
  const { names } = info;
  if (table.problem === 'unusable' && info.columns.length === 0) return <GoneTable table={table} />;
  if (names === undefined) {
    return (
      <EmptyState icon="warn" title="Table not in the GraphQL schema">
        The table name is not a valid GraphQL name. Set a custom name under Structure.
      </EmptyState>
    );
  }
  return <BrowseTable table={table} info={{ ...info, names }} />;
}

function BrowseTable({ table, info }: { readonly table: TableOverview; readonly info: NamedTableInfo }) {
  const as = persona.value;
  const {
    value: readable,
    failure,
    reload,
  } = useResource(
    () =>
      readableTable(as, info.names).then((found) => ({
        as,
        found: found === undefined ? undefined : { ...found, columns: inTableOrder(found.columns, info) },
      })),
    `${JSON.stringify(as)} ${info.names.type} ${info.version}`,
    // A change of the metadata does not close the row that is being edited.
    { keeps: true },
  );
  if (failure !== undefined) return <ErrorBox error={shownError(failure)} onRetry={reload} />;
  if (readable === undefined || readable.as !== as) return <Loading what="the columns" />;
  if (readable.found === undefined) {
    return (
      <EmptyState
        icon="shield"
        title={`${personaLabel(as)} has no select permission on ${tableId(table)}`}
        actions={
          <a
            class="button button-primary"
            href={hrefOf(['data', table.source, tableId(table)], { tab: 'permissions', role: as.role, operation: 'select' })}
          >
            Add permission
          </a>
        }
      >
        A select permission defines the rows and columns that a role can read.
      </EmptyState>
    );
  }
  return <TableRows key={JSON.stringify(as)} table={table} info={info} readable={readable.found} />;
}

/** Sorts fields in the order of the database's columns, others last; the GraphQL schema lists them alphabetically. */
function inTableOrder(columns: ReadableTable['columns'], { columnNames }: NamedTableInfo): ReadableTable['columns'] {
  const places = new Map([...columnNames.values()].map((name, index) => [name, index]));
  return columns.toSorted((a, b) => (places.get(a.name) ?? places.size) - (places.get(b.name) ?? places.size));
}
