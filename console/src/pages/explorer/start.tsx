import { overview } from '../../api/overview.ts';
import { readTableInfo } from '../../api/table-info.ts';
import { useResource } from '../../api/use-resource.ts';
import { formatDocument } from '../../model/graphql-document.ts';
import { DEFAULT_KIND } from '../../model/kinds.generated.ts';
import { allTables, type TableOverview, tableId } from '../../model/overview.ts';
import { type Persona, personaLabel } from '../../model/persona.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { queryTabs } from './tabs.ts';

/** Shown until the first run, with three example documents. */
export function Start({ untouched, as }: { readonly untouched: boolean; readonly as: Persona }) {
  const { value: data } = overview;
  const tables =
    data === undefined
      ? []
      : allTables(data).filter(({ problem, relationships, kind }) => problem === undefined && relationships > 0 && kind === DEFAULT_KIND);
  const examples = useExamples(untouched ? tables[0] : undefined);
  if (data !== undefined && allTables(data).length === 0) {
    return (
      <EmptyState
        icon="explorer"
        title="The API has no fields yet"
        actions={
          <a class="button button-primary" href="#/data">
            Track tables
          </a>
        }
      >
        Tracked tables become root fields.
      </EmptyState>
    );
  }
  return (
    <EmptyState
      icon="play"
      title="Run a query to see its response"
      actions={
        untouched &&
        examples.map(([label, text]) => (
          <Button key={label} onClick={() => queryTabs.update(queryTabs.chosen.peek().id, { text })}>
            {label}
          </Button>
        ))
      }
    >
      <kbd>Ctrl</kbd> <kbd>Enter</kbd> runs the query as <strong>{personaLabel(as)}</strong>. The schema panel inserts fields.
    </EmptyState>
  );
}

/** Labels and texts of example queries of a table, with its names in the API. */
function useExamples(table: TableOverview | undefined): readonly (readonly [label: string, text: string])[] {
  const { value: names } = useResource(
    async (signal) => (table === undefined ? undefined : (await readTableInfo(table, signal)).names),
    table === undefined ? '' : `${table.source} ${tableId(table)}`,
  );
  if (names === undefined) return [];
  const { namespace, select, selectAggregate } = names;
  const document = (head: string, field: string): string =>
    formatDocument(`${head} { ${namespace === undefined ? field : `${namespace} { ${field} }`} }`);
  return [
    ['Rows', document('query Rows', `${select}(limit: 10) { __typename }`)],
    ['Count', document('query Count', `${selectAggregate} { aggregate { count } }`)],
    ['Subscription', document('subscription Live', `${select}(limit: 10) { __typename }`)],
  ];
}
