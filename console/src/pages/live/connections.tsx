import { useEffect } from 'preact/hooks';
import { readOperation } from '../../api/metadata.ts';
import { useResource } from '../../api/use-resource.ts';
import { hrefOf } from '../../browser/place.ts';
import { isObject, type JsonObject, objectsIn } from '../../model/json.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { ListTable } from '../../parts/list-table.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';

const INTERVAL_MS = 2000;

/** Connections of this instance to the databases of the sources. */
export function Connections() {
  const { value, failure, reload } = useResource(async (signal) => {
    const json = await readOperation('get_connections', {}, { signal });
    return isObject(json) ? objectsIn(json['connections']) : [];
  }, '');
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') reload();
    }, INTERVAL_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <>
      {failure !== undefined && <ErrorBox error={shownError(failure)} onRetry={reload} />}
      {value === undefined && failure === undefined && <Loading what="the connections" />}
      {value?.length === 0 && (
        <EmptyState icon="data" title="No connections">
          The connections of this instance to the databases of sources appear here.
        </EmptyState>
      )}
      {value !== undefined && value.length > 0 && (
        <ListTable
          name="Connections"
          columns={['Source', 'Server', 'In use', 'Idle', 'Maximum', 'Waiting statements', 'Timeouts', 'Errors']}
          isCard
        >
          {value.map((server, index) => (
            <Server key={`${String(server['source'])} ${index}`} server={server} />
          ))}
        </ListTable>
      )}
    </>
  );
}

function Server({ server }: { readonly server: JsonObject }) {
  const source = String(server['source']);
  const count = (key: string): number => Number(server[key] ?? 0);
  const warned = (key: string) => (count(key) === 0 ? 0 : <span class="badge badge-warn">{count(key)}</span>);
  return (
    <tr>
      <td>
        <a href={hrefOf(['data', source])}>{source}</a>
      </td>
      <td>{String(server['role'])}</td>
      <td class="number">{count('used')}</td>
      <td class="number">{count('idle')}</td>
      <td class="number">{count('max_connections')}</td>
      <td class="number">{warned('waiting')}</td>
      <td class="number">{warned('timeouts')}</td>
      <td class="number">{warned('errors')}</td>
    </tr>
  );
}
