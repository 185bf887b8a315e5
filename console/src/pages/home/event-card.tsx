import { readOperation } from '../../api/metadata.ts';
import { useResource } from '../../api/use-resource.ts';
import { hrefOf } from '../../browser/place.ts';
import { isList, isObject, type JsonObject } from '../../model/json.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { Card } from './card.tsx';

const MAX_SHOWN = 6;

/** Events of the last 24 hours. Triggers with failed events come first, then those with pending ones. */
export function EventCard({ version }: { readonly version: number }) {
  const { value, failure, isLoading, reload } = useResource(async (signal) => {
    const json = await readOperation('get_event_summary', {}, { signal });
    const triggers = isObject(json) ? json['event_triggers'] : undefined;
    return isList(triggers) ? triggers.filter(isObject) : [];
  }, `${version}`);
  const count = (trigger: JsonObject, key: string): number => Number(trigger[key] ?? 0);
  const total = (key: string): number => (value ?? []).reduce((sum, trigger) => sum + count(trigger, key), 0);
  const notable = (value ?? [])
    .filter((trigger) => count(trigger, 'failed') + count(trigger, 'pending') > 0 || typeof trigger['error'] === 'string')
    .toSorted((a, b) => count(b, 'failed') - count(a, 'failed'));
  return (
    <Card
      icon="events"
      title="Events in the last 24 hours"
      aside={<Button kind="quiet" small icon="reload" name="Refresh events" onClick={reload} />}
    >
      {failure !== undefined && <ErrorBox error={shownError(failure)} onRetry={reload} />}
      {value === undefined && isLoading && <Loading what="the events" />}
      {value !== undefined && (
        <>
          <p>
            <strong class="number">{total('delivered')}</strong> delivered, <strong class="number">{total('failed')}</strong> failed,{' '}
            <strong class="number">{total('pending')}</strong> pending
          </p>
          <ul class="stack-tight">
            {notable.slice(0, MAX_SHOWN).map((trigger) => (
              <TriggerLine key={`${String(trigger['source'])} ${String(trigger['name'])}`} trigger={trigger} />
            ))}
          </ul>
          {notable.length > MAX_SHOWN && <a href={hrefOf(['events'])}>and {notable.length - MAX_SHOWN} more</a>}
        </>
      )}
    </Card>
  );
}

function TriggerLine({ trigger }: { readonly trigger: JsonObject }) {
  const { source, name, failed, pending, oldest_pending: oldest, error } = trigger;
  const href = (state?: string): string => hrefOf(['events', 'triggers', String(source), String(name)], { state });
  return (
    <li class="row">
      <a class="grow break" href={href()}>
        {String(name)}
      </a>
      {typeof error === 'string' && (
        <span class="badge badge-danger" title={error}>
          unknown
        </span>
      )}
      {Number(failed ?? 0) > 0 && (
        <a class="badge badge-danger" href={href('error')}>
          {String(failed)} failed
        </a>
      )}
      {Number(pending ?? 0) > 0 && (
        <a class="badge" href={href('pending')}>
          {String(pending)} pending
        </a>
      )}
      {typeof oldest === 'string' && <span class="muted small">since {new Date(oldest).toLocaleTimeString()}</span>}
    </li>
  );
}
