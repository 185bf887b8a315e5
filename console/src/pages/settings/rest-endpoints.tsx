import { memberPart } from '../../api/entries.ts';
import { overview } from '../../api/overview.ts';
import { objectsIn, readSections } from '../../api/sections.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import { useResource } from '../../api/use-resource.ts';
import { hrefOf } from '../../browser/place.ts';
import { attempt } from '../../features/attempt.ts';
import { isList, isObject, type JsonObject } from '../../model/json.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { ACTIONS, ListTable } from '../../parts/list-table.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';

/** Operations that are also answered under an address of their own. */
export function RestEndpoints() {
  const { value, failure, isLoading, reload } = useResource(
    async (signal) => objectsIn((await readSections(['rest_endpoints'], signal))['rest_endpoints']),
    `${overview.value?.version}`,
  );
  const remove = (endpoint: JsonObject): void =>
    void attempt({
      title: `Drop the REST endpoint ${String(endpoint['name'])}`,
      review: true,
      steps: () => [{ type: 'drop_rest_endpoint', args: { name: String(endpoint['name']) } }],
      parts: [memberPart('rest_endpoints', String(endpoint['name']))],
      inverse: ([was = null]) => (isObject(was) ? [{ type: 'create_rest_endpoint', args: was }] : []),
    });
  return (
    <>
      {failure !== undefined && <ErrorBox error={shownError(failure)} onRetry={reload} />}
      {value === undefined && isLoading && <Loading what="the endpoints" />}
      {value?.length === 0 && (
        <EmptyState icon="link" title="No REST endpoint">
          Write an operation in the <a href={hrefOf(['explorer'])}>explorer</a>, and give it an address there.
        </EmptyState>
      )}
      {value !== undefined && value.length > 0 && (
        <ListTable name="REST endpoints" columns={['Address', 'Methods', 'Operation', ACTIONS]} isCard>
          {value.map((endpoint) => (
            <tr key={String(endpoint['name'])}>
              <td>
                <code>api/rest/{String(endpoint['url'])}</code>
                {typeof endpoint['comment'] === 'string' && <p class="muted small">{endpoint['comment']}</p>}
              </td>
              <td>{isList(endpoint['methods']) ? endpoint['methods'].map(String).join(', ') : ''}</td>
              <td>{operationOf(endpoint)}</td>
              <td>
                <Button small kind="quiet" refusal={isReadOnly ? READ_ONLY_REASON : undefined} onClick={() => remove(endpoint)}>
                  Drop …
                </Button>
              </td>
            </tr>
          ))}
        </ListTable>
      )}
    </>
  );
}

function operationOf({ definition }: JsonObject): string {
  const query = isObject(definition) ? definition['query'] : undefined;
  return isObject(query) ? `${String(query['collection_name'])}: ${String(query['query_name'])}` : '';
}
