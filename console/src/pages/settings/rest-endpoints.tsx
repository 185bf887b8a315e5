import { useState } from 'preact/hooks';
import { memberPart } from '../../api/entries.ts';
import { overview } from '../../api/overview.ts';
import { readSections } from '../../api/sections.ts';
import { hasSecret } from '../../api/session.ts';
import { readOnlyRefusal } from '../../api/settings.ts';
import { useResource } from '../../api/use-resource.ts';
import { copyText } from '../../browser/clipboard.ts';
import { base, hrefOf } from '../../browser/place.ts';
import { attempt } from '../../features/attempt.ts';
import { isList, isObject, type JsonObject, objectsIn } from '../../model/json.ts';
import { curlOf } from '../../model/request-code.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { ACTIONS, ListTable } from '../../parts/list-table.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { showToast } from '../../parts/toast.tsx';
import { NewEndpoint } from './new-endpoint.tsx';

/** REST endpoints: saved operations with a URL. */
export function RestEndpoints() {
  const { value, failure, isLoading, reload } = useResource(
    async (signal) => objectsIn((await readSections(['rest_endpoints'], signal))['rest_endpoints']),
    `${overview.value?.version}`,
  );
  const [isAdding, setAdding] = useState(false);
  const add = (
    <Button kind="primary" icon="plus" refusal={readOnlyRefusal} onClick={() => setAdding(true)}>
      New REST endpoint
    </Button>
  );
  const remove = (endpoint: JsonObject): void =>
    void attempt({
      title: `Delete REST endpoint ${String(endpoint['name'])}`,
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
        <EmptyState icon="link" title="No REST endpoints" actions={add}>
          A REST endpoint runs a saved query. Save queries in the <a href={hrefOf(['explorer'])}>Explorer</a>.
        </EmptyState>
      )}
      {isAdding && <NewEndpoint onClose={() => setAdding(false)} />}
      {value !== undefined && value.length > 0 && <div class="row-end">{add}</div>}
      {value !== undefined && value.length > 0 && (
        <ListTable name="REST endpoints" columns={['URL', 'Methods', 'Operation', ACTIONS]} isCard>
          {value.map((endpoint) => (
            <tr key={String(endpoint['name'])}>
              <td>
                <code>/api/rest/{String(endpoint['url'])}</code>
                {typeof endpoint['comment'] === 'string' && <p class="muted small">{endpoint['comment']}</p>}
              </td>
              <td>{methodsOf(endpoint).join(', ')}</td>
              <td>{operationOf(endpoint)}</td>
              <td class="nowrap">
                <Button
                  small
                  kind="quiet"
                  icon="copy"
                  title="Copies a command that calls it. Replace segments such as :id with values."
                  onClick={() => void copyText(commandOf(endpoint)).then(() => showToast('Copied'))}
                >
                  curl
                </Button>
                <Button small kind="quiet" refusal={readOnlyRefusal} onClick={() => remove(endpoint)}>
                  Delete …
                </Button>
              </td>
            </tr>
          ))}
        </ListTable>
      )}
    </>
  );
}

function methodsOf({ methods }: JsonObject): readonly string[] {
  return isList(methods) ? methods.map(String) : [];
}

/** Returns a curl command for the first method of an endpoint. */
function commandOf(endpoint: JsonObject): string {
  const [method = 'GET'] = methodsOf(endpoint);
  return curlOf(`${base}api/rest/${String(endpoint['url'])}`, {}, { hasSecret: hasSecret.value, method });
}

function operationOf({ definition }: JsonObject): string {
  const query = isObject(definition) ? definition['query'] : undefined;
  return isObject(query) ? `${String(query['collection_name'])}: ${String(query['query_name'])}` : '';
}
