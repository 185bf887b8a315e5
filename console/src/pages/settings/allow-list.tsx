import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { config } from '../../api/config.ts';
import { memberPart } from '../../api/entries.ts';
import { overview } from '../../api/overview.ts';
import { readSections } from '../../api/sections.ts';
import { readOnlyRefusal } from '../../api/settings.ts';
import { useResource } from '../../api/use-resource.ts';
import { attempt } from '../../features/attempt.ts';
import { JsonDialog } from '../../features/json-dialog.tsx';
import { isObject, type JsonObject, objectsIn } from '../../model/json.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';

const EXAMPLE = '{"name": "shop", "definition": {"queries": [{"name": "Titles", "query": "query Titles { album { title } }"}]}}';

/** Query collections, and the allow-list of collections. */
export function AllowList() {
  const [isAdding, setAdding] = useState(false);
  const { value, failure, isLoading, reload } = useResource(
    (signal) => readSections(['query_collections', 'allowlist'], signal),
    `${overview.value?.version}`,
  );
  const collections = objectsIn(value?.['query_collections']);
  const listed = objectsIn(value?.['allowlist']);
  const add = (
    <Button kind="primary" icon="plus" refusal={readOnlyRefusal} onClick={() => setAdding(true)}>
      New collection
    </Button>
  );
  return (
    <>
      {config.value?.['is_allow_list_enabled'] !== true && (
        <p class="banner">
          <Icon name="info" />
          <span>
            The allow-list is not enforced: roles can run any operation. Set <code>SVC_GRAPHQL_ENABLE_ALLOWLIST=true</code> to enforce it.
          </span>
        </p>
      )}
      {failure !== undefined && <ErrorBox error={shownError(failure)} onRetry={reload} />}
      {value === undefined && isLoading && <Loading what="the collections" />}
      {value !== undefined && collections.length === 0 && (
        <EmptyState icon="star" title="No collections" actions={add}>
          A collection has named operations for the allow-list and for REST endpoints.
        </EmptyState>
      )}
      {collections.length > 0 && <div class="row-end">{add}</div>}
      {collections.map((collection) => {
        const name = String(collection['name']);
        return <Collection key={name} collection={collection} isListed={listed.some((entry) => entry['collection'] === name)} />;
      })}
      {isAdding && <NewCollection onClose={() => setAdding(false)} />}
    </>
  );
}

function Collection({ collection, isListed }: { readonly collection: JsonObject; readonly isListed: boolean }) {
  const name = String(collection['name']);
  const queries = isObject(collection['definition']) ? objectsIn(collection['definition']['queries']) : [];
  return (
    <section class="card">
      <header>
        <h2 class="grow">
          {name} {isListed && <span class="badge badge-ok">allowed</span>}
        </h2>
        <Button small refusal={readOnlyRefusal} onClick={() => toggle(name, !isListed)}>
          {isListed ? 'Remove from allow-list' : 'Add to allow-list'}
        </Button>
        <Button small icon="trash" refusal={readOnlyRefusal} onClick={() => remove(name)}>
          Delete …
        </Button>
      </header>
      <ul class="stack-tight">
        {queries.map((query) => (
          <li key={String(query['name'])}>
            <details>
              <summary>{String(query['name'])}</summary>
              <pre class="code-block mono">{String(query['query'])}</pre>
            </details>
          </li>
        ))}
      </ul>
    </section>
  );
}

function NewCollection({ onClose }: { onClose(): void }) {
  return (
    <JsonDialog
      title="New collection"
      text=""
      action="Create"
      onClose={onClose}
      onSubmit={async (args) => {
        if (!isObject(args)) throw new SyntaxError('expected a JSON object');
        const name = String(args['name']);
        await makeChange({
          title: `Create collection ${name}`,
          steps: () => [{ type: 'create_query_collection', args }],
          inverse: [{ type: 'drop_query_collection', args: { collection: name, cascade: true } }],
        });
        onClose();
      }}
    >
      <p class="muted">
        Example: <code class="break">{EXAMPLE}</code>
      </p>
    </JsonDialog>
  );
}

function toggle(name: string, on: boolean): void {
  const add = { type: 'add_collection_to_allowlist', args: { collection: name, scope: { global: true } } };
  const drop = { type: 'drop_collection_from_allowlist', args: { collection: name } };
  void attempt({
    title: on ? `Add ${name} to the allow-list` : `Remove ${name} from the allow-list`,
    parts: [memberPart('allowlist', name, 'collection')],
    steps: () => [on ? add : drop],
    // The entry may be limited to some roles.
    inverse: ([before = null]) => [isObject(before) ? { type: 'add_collection_to_allowlist', args: before } : drop],
  });
}

function remove(name: string): void {
  void attempt({
    title: `Delete collection ${name}`,
    review: true,
    parts: [memberPart('query_collections', name), memberPart('allowlist', name, 'collection')],
    steps: () => [{ type: 'drop_query_collection', args: { collection: name, cascade: true } }],
    inverse: ([before = null, entry = null]) => [
      ...(isObject(before) ? [{ type: 'create_query_collection', args: before }] : []),
      ...(isObject(entry) ? [{ type: 'add_collection_to_allowlist', args: entry }] : []),
    ],
  });
}
