/** Tables whose metadata and database differ: what is shown instead of them, and what brings both together again. */
import { readKindOperation } from '../../api/metadata.ts';
import { readOnlyRefusal } from '../../api/settings.ts';
import { useResource } from '../../api/use-resource.ts';
import { hrefOf } from '../../browser/place.ts';
import { attempt } from '../../features/attempt.ts';
import { isList, isObject } from '../../model/json.ts';
import { type SourceOverview, type TableOverview, tableId, tableJson } from '../../model/overview.ts';
import { labelOf } from '../../model/steps.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Loading } from '../../parts/loading.tsx';

/** Reads the tables of a source from its database again. */
export function reloadSource(name: string): void {
  void attempt({ title: `Reload ${name}`, steps: () => [{ type: 'reload_metadata', args: { reload_sources: [name] } }] });
}

export async function untrackTable(source: Pick<SourceOverview, 'name' | 'kind'>, table: TableOverview): Promise<void> {
  const address = { source: source.name, kind: source.kind, table: tableJson(table) };
  await attempt({
    title: `Untrack ${tableId(table)}`,
    tables: [address],
    review: true,
    steps: () => [{ type: `${source.kind}_untrack_table`, args: { source: source.name, table: address.table, cascade: true } }],
  });
}

/** A tracked table that the database does not have. */
export function GoneTable({ table }: { readonly table: TableOverview }) {
  const { source, kind } = table;
  return (
    <EmptyState
      icon="warn"
      title={`The database has no ${tableId(table)}`}
      actions={
        <>
          <Button kind="primary" icon="reload" title="reload_metadata" onClick={() => reloadSource(source)}>
            Reload {source}
          </Button>
          <Button
            icon="trash"
            title={`${kind}_untrack_table`}
            refusal={readOnlyRefusal}
            onClick={() => void untrackTable({ name: source, kind }, table)}
          >
            Untrack …
          </Button>
        </>
      }
    >
      It was dropped or renamed. Reload once it exists again. Untracking it deletes its permissions and relationships.
    </EmptyState>
  );
}

/** A hint below an error that a changed table may have caused. */
export function SuggestReload({ source }: { readonly source: string }) {
  return (
    <p class="row">
      The table may have been changed or dropped in the database.
      <Button small icon="reload" title="reload_metadata" onClick={() => reloadSource(source)}>
        Reload {source}
      </Button>
    </p>
  );
}

/** An address of a table that is not tracked, or that does not exist. */
export function UntrackedTable({
  source,
  id,
  version,
}: {
  readonly source: SourceOverview;
  readonly id: string;
  readonly version: number;
}) {
  const { name, kind } = source;
  const { value, isLoading } = useResource(async (signal) => {
    const json = await readKindOperation(kind, 'get_source_tables', { source: name }, { signal });
    return { table: (isList(json) ? json.filter(isObject) : []).find((each) => labelOf(each) === id) };
  }, `${name} ${id} ${version}`);
  if (isLoading) return <Loading what={id} />;
  const table = value?.table;
  const { type: _, ...address } = table ?? {};
  const track = (): void =>
    void attempt({
      title: `Track ${id}`,
      steps: () => [{ type: `${kind}_track_table`, args: { source: name, table: address } }],
      inverse: [{ type: `${kind}_untrack_table`, args: { source: name, table: address, cascade: true } }],
    });
  const others = (
    <a class="button" href={hrefOf(['data', name])}>
      Tables of {name}
    </a>
  );
  const heading = <h1 class="visually-hidden">{id}</h1>;
  if (table === undefined) {
    return (
      <>
        {heading}
        <EmptyState
          icon="table"
          title={`${name} has no table ${id}`}
          actions={
            <>
              <Button icon="reload" title="reload_metadata" onClick={() => reloadSource(name)}>
                Reload {name}
              </Button>
              {others}
            </>
          }
        >
          It was dropped or renamed, or its name is misspelled.
        </EmptyState>
      </>
    );
  }
  return (
    <>
      {heading}
      <EmptyState
        icon="table"
        title={`${id} is not tracked`}
        actions={
          <>
            <Button kind="primary" icon="plus" title={`${kind}_track_table`} refusal={readOnlyRefusal} onClick={track}>
              Track
            </Button>
            {others}
          </>
        }
      >
        Only tracked tables are in the API.
      </EmptyState>
    </>
  );
}
