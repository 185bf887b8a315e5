import { failureOf } from '../../api/failure.ts';
import { sendAsAdmin, send } from '../../api/http.ts';
import { useResource } from '../../api/use-resource.ts';
import { hrefOf } from '../../browser/place.ts';
import type { Overview, SourceOverview } from '../../model/overview.ts';
import { Button } from '../../parts/button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { ListTable } from '../../parts/list-table.tsx';
import { Card } from './card.tsx';

interface SourceState {
  readonly name: string;
  readonly milliseconds: number;
  readonly problem: string | undefined;
}

/** Runs `select 1` on a source and measures the time. */
async function probe({ name, kind }: SourceOverview, signal: AbortSignal): Promise<SourceState> {
  const started = performance.now();
  try {
    await sendAsAdmin('v2/query', { body: { type: `${kind}_run_sql`, args: { source: name, sql: 'select 1', read_only: true } }, signal });
    return { name, milliseconds: performance.now() - started, problem: undefined };
  } catch (error) {
    return { name, milliseconds: performance.now() - started, problem: failureOf(error).message };
  }
}

export function SourcesCard({ data }: { readonly data: Overview }) {
  const { value, reload } = useResource((signal) => Promise.all(data.sources.map((source) => probe(source, signal))), `${data.version}`);
  const health = useResource(async (signal) => (await send('healthz', { method: 'GET', signal })).text, `${data.version}`);
  return (
    <Card icon="data" title="Sources" aside={<Button kind="quiet" small icon="reload" name="Check sources again" onClick={reload} />}>
      {health.value !== undefined && !health.value.startsWith('OK') && <p class="banner banner-warn">{health.value.slice(0, 200)}</p>}
      <ListTable name="Sources" columns={[{ hidden: 'Source' }, { hidden: 'Tables' }, { hidden: 'Status' }]}>
        {data.sources.map((source) => {
          const state = value?.find(({ name }) => name === source.name);
          return (
            <tr key={source.name}>
              <td>
                <a href={hrefOf(['data', source.name])}>{source.name}</a> <span class="badge">{source.kind}</span>
                {state?.problem !== undefined && <p class="small muted">{state.problem}</p>}
              </td>
              <td class="number nowrap muted">
                {source.tables.length} {source.tables.length === 1 ? 'table' : 'tables'}
              </td>
              <td class="nowrap">
                {state === undefined ? (
                  <span class="muted">checking …</span>
                ) : state.problem === undefined ? (
                  <span class="badge badge-ok">
                    <Icon name="check" />
                    {Math.round(state.milliseconds)} ms
                  </span>
                ) : (
                  <span class="badge badge-danger">
                    <Icon name="warn" />
                    down
                  </span>
                )}
              </td>
            </tr>
          );
        })}
      </ListTable>
      {data.sources.length === 0 && (
        <p class="muted">
          No sources yet. <a href={hrefOf(['data'])}>Connect a database</a>.
        </p>
      )}
    </Card>
  );
}
