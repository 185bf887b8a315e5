import { useState } from 'preact/hooks';
import { overview } from '../../api/overview.ts';
import { readSections } from '../../api/sections.ts';
import { readOnlyRefusal } from '../../api/settings.ts';
import { useResource } from '../../api/use-resource.ts';
import { attempt } from '../../features/attempt.ts';
import { isObject, type JsonObject, objectsIn } from '../../model/json.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Search } from '../../parts/field.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';

interface SavedQuery {
  readonly collection: string;
  readonly name: string;
  readonly text: string;
  readonly isAllowed: boolean;
  /** URLs of the REST endpoints that use it. */
  readonly urls: readonly string[];
}

function queriesIn(sections: JsonObject): readonly SavedQuery[] {
  const allowed = new Set(objectsIn(sections['allowlist']).map((entry) => String(entry['collection'])));
  const endpoints = objectsIn(sections['rest_endpoints']).map(({ url, definition }) => {
    const query = isObject(definition) && isObject(definition['query']) ? definition['query'] : {};
    return { url: String(url), collection: String(query['collection_name']), name: String(query['query_name']) };
  });
  return objectsIn(sections['query_collections']).flatMap(({ name: collectionName, definition }) =>
    (isObject(definition) ? objectsIn(definition['queries']) : []).map(({ name: queryName, query }) => {
      const [collection, name] = [String(collectionName), String(queryName)];
      return {
        collection,
        name,
        text: String(query),
        isAllowed: allowed.has(collection),
        urls: endpoints.filter((each) => each.collection === collection && each.name === name).map(({ url }) => url),
      };
    }),
  );
}

/** Queries in collections of the metadata, which all administrators share. */
export function SavedPanel({ onOpen, onSave }: { onOpen(text: string): void; onSave(): void }) {
  const [filter, setFilter] = useState('');
  const { value, failure, isLoading, reload } = useResource(
    async (signal) => queriesIn(await readSections(['query_collections', 'allowlist', 'rest_endpoints'], signal)),
    `${overview.value?.version}`,
  );
  const words = filter.toLowerCase();
  const found = (value ?? []).filter(({ collection, name, text }) => `${collection} ${name} ${text}`.toLowerCase().includes(words));
  return (
    <>
      <div class="row-tight">
        <Search name="Filter saved queries" value={filter} onInput={setFilter} />
        <Button small icon="plus" name="Save query" refusal={readOnlyRefusal} onClick={onSave} />
      </div>
      {failure !== undefined && <ErrorBox error={shownError(failure)} onRetry={reload} />}
      {value === undefined && isLoading && <Loading what="the collections" />}
      {value !== undefined && found.length === 0 && (
        <EmptyState
          icon="star"
          title={value.length === 0 ? 'No saved queries' : 'No matches'}
          actions={
            value.length === 0 && (
              <Button refusal={readOnlyRefusal} onClick={onSave}>
                Save query
              </Button>
            )
          }
        >
          {value.length === 0 &&
            'Saved queries are stored in collections, which all administrators share and which can be on the allow-list.'}
        </EmptyState>
      )}
      <ul class="history-list" aria-label="Saved queries">
        {[...Map.groupBy(found, ({ collection }) => collection)].map(([collection, queries]) => (
          <li key={collection} class="stack-tight">
            <strong class="row-tight small">
              {collection}
              {queries[0]?.isAllowed === true && <span class="badge badge-ok">allow-list</span>}
            </strong>
            <ul>
              {queries.map((query) => (
                <SavedQueryLine key={query.name} query={query} onOpen={onOpen} />
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </>
  );
}

function SavedQueryLine({ query, onOpen }: { readonly query: SavedQuery; onOpen(text: string): void }) {
  const { name, text, urls } = query;
  return (
    <li class="row-tight">
      <button type="button" class="history-entry" onClick={() => onOpen(text)}>
        <span class="ellipsis">{name}</span>
        {urls.map((url) => (
          <span key={url} class="muted small mono ellipsis">
            /api/rest/{url}
          </span>
        ))}
      </button>
      <Button
        small
        kind="quiet"
        icon="trash"
        name={`Delete ${name} …`}
        refusal={readOnlyRefusal ?? (urls.length > 0 ? 'A REST endpoint uses this query' : undefined)}
        onClick={() => remove(query)}
      />
    </li>
  );
}

function remove({ collection, name, text }: SavedQuery): void {
  void attempt({
    title: `Delete ${name} from collection ${collection}`,
    review: true,
    steps: () => [{ type: 'drop_query_from_collection', args: { collection_name: collection, query_name: name } }],
    inverse: [{ type: 'add_query_to_collection', args: { collection_name: collection, query_name: name, query: text } }],
  });
}
