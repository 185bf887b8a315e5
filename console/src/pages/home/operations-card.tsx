import { readOperation } from '../../api/metadata.ts';
import { useResource } from '../../api/use-resource.ts';
import { hrefOf } from '../../browser/place.ts';
import { durationText, type RecentOperation, recentOperations } from '../../model/recent-operations.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { Card } from './card.tsx';

const MAX_SHOWN = 4;

/** Errors and slow operations among the last requests of this instance. */
export function OperationsCard() {
  const { value, failure, isLoading, reload } = useResource(
    async (signal) => recentOperations(await readOperation('get_recent_operations', {}, { signal })),
    '',
  );
  const errors = (value ?? []).filter(({ error }) => error !== undefined);
  const slow = (value ?? []).filter(({ error }) => error === undefined).toSorted((a, b) => b.duration - a.duration);
  return (
    <Card
      icon="live"
      title="Recent operations"
      aside={<Button kind="quiet" small icon="reload" name="Refresh operations" onClick={reload} />}
    >
      {failure !== undefined && <ErrorBox error={shownError(failure)} onRetry={reload} />}
      {value === undefined && isLoading && <Loading what="the operations" />}
      {value?.length === 0 && <p class="muted">No operations since the start of this instance.</p>}
      {value !== undefined && value.length > 0 && (
        <>
          <p>
            <strong class="number">{value.length}</strong> requests, <strong class="number">{errors.length}</strong> with errors.{' '}
            <a href={hrefOf(['live'], { tab: 'operations' })}>Show all</a>
          </p>
          {errors.length > 0 && <Lines title="Last errors" operations={errors} />}
          {slow.length > 0 && <Lines title="Slowest" operations={slow} />}
        </>
      )}
    </Card>
  );
}

function Lines({ title, operations }: { readonly title: string; readonly operations: readonly RecentOperation[] }) {
  return (
    <>
      <h3>{title}</h3>
      <ul class="stack-tight">
        {operations.slice(0, MAX_SHOWN).map(({ at, requestId, label, role, duration, error }) => (
          <li key={`${requestId} ${at}`} class="row-tight">
            <span class="muted number nowrap">{new Date(at).toLocaleTimeString()}</span>
            <span class="grow ellipsis">
              <a href={hrefOf(['live'], { tab: 'operations', form: 'requests', find: label })} title={label}>
                {label}
              </a>
            </span>
            <span class="muted">{role}</span>
            {error === undefined ? (
              <span class="number nowrap">{durationText(duration)}</span>
            ) : (
              <span class="badge badge-danger">{error}</span>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}
