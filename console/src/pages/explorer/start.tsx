import { overview } from '../../api/overview.ts';
import { DEFAULT_KIND } from '../../model/kinds.generated.ts';
import { allTables } from '../../model/overview.ts';
import { type Persona, personaLabel } from '../../model/persona.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { updateTab, chosenTabId } from './tabs.ts';

/** Shown until the first run, with three example documents. */
export function Start({ untouched, as }: { readonly untouched: boolean; readonly as: Persona }) {
  const { value: data } = overview;
  const tables =
    data === undefined
      ? []
      : allTables(data).filter(({ problem, relationships, kind }) => problem === undefined && relationships > 0 && kind === DEFAULT_KIND);
  const [table] = tables;
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
  const examples =
    table === undefined
      ? []
      : [
          { label: 'Rows', text: `query Rows {\n  ${table.name}(limit: 10) {\n    __typename\n  }\n}\n` },
          { label: 'Count', text: `query Count {\n  ${table.name}_aggregate {\n    aggregate {\n      count\n    }\n  }\n}\n` },
          { label: 'Subscription', text: `subscription Live {\n  ${table.name}(limit: 10) {\n    __typename\n  }\n}\n` },
        ];
  return (
    <EmptyState
      icon="play"
      title="Run a query to see its response"
      actions={
        untouched &&
        examples.map(({ label, text }) => (
          <Button key={label} onClick={() => updateTab(chosenTabId.peek(), { text })}>
            {label}
          </Button>
        ))
      }
    >
      <kbd>Ctrl</kbd> <kbd>Enter</kbd> runs the query as <strong>{personaLabel(as)}</strong>. The schema panel inserts fields.
    </EmptyState>
  );
}
