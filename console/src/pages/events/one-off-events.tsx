import { useState } from 'preact/hooks';
import { sessionChanges } from '../../api/changes.ts';
import { readOperation } from '../../api/metadata.ts';
import { readOnlyRefusal } from '../../api/settings.ts';
import { useResource } from '../../api/use-resource.ts';
import { runOperation } from '../../features/attempt.ts';
import { isObject, type JsonObject, objectsIn } from '../../model/json.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { ACTIONS, ListTable } from '../../parts/list-table.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { Attempts, Printed } from './attempts.tsx';
import { OneOffForm } from './one-off-form.tsx';

const LIMIT = 100;

/** Webhook calls that are made once. */
export function OneOffEvents() {
  const [isAdding, setAdding] = useState(false);
  const [opened, setOpened] = useState<JsonObject | null>(null);
  // One-off events do not change the metadata version, so the key is the number of changes in this session.
  const { value, failure, isLoading, reload } = useResource(
    async (signal) => {
      const json = await readOperation('get_scheduled_events', { type: 'one_off', limit: LIMIT, get_rows_count: true }, { signal });
      return isObject(json) ? { events: objectsIn(json['events']), count: Number(json['count'] ?? 0) } : { events: [], count: 0 };
    },
    `one-off ${sessionChanges.value.length}`,
    { keeps: true },
  );
  const cancel = async (event: JsonObject): Promise<void> => {
    const args = { type: 'one_off', event_id: String(event['id']) };
    if (await runOperation('delete_scheduled_event', args, 'Event deleted')) reload();
  };
  const add = (
    <Button kind="primary" icon="plus" refusal={readOnlyRefusal} onClick={() => setAdding(true)}>
      Schedule event
    </Button>
  );
  return (
    <>
      {failure !== undefined && <ErrorBox error={shownError(failure)} onRetry={reload} />}
      {value === undefined && isLoading && <Loading what="the events" />}
      {value?.events.length === 0 && (
        <EmptyState icon="history" title="No one-off events" actions={add}>
          A one-off event calls a webhook once, at a given time.
        </EmptyState>
      )}
      {value !== undefined && value.events.length > 0 && (
        <>
          <div class="row">
            <span class="grow muted">
              {value.count > value.events.length
                ? `The first ${value.events.length} of ${value.count}`
                : `${value.count} ${value.count === 1 ? 'event' : 'events'}`}
            </span>
            <Button icon="reload" name="Refresh events" onClick={reload} />
            {add}
          </div>
          <ListTable name="One-off events" columns={['Time', 'Status', 'Webhook', 'Attempts', ACTIONS]} isCard>
            {value.events.map((event) => (
              <tr key={String(event['id'])}>
                <td class="nowrap">
                  <Button kind="link" onClick={() => setOpened(event)}>
                    {new Date(String(event['scheduled_time'])).toLocaleString()}
                  </Button>
                </td>
                <td>
                  <Status status={String(event['status'])} />
                </td>
                <td>{String(event['webhook_conf'])}</td>
                <td class="number">{String(event['tries'])}</td>
                <td>
                  <Button small kind="quiet" refusal={readOnlyRefusal} onClick={() => void cancel(event)}>
                    {event['status'] === 'scheduled' ? 'Cancel' : 'Delete'}
                  </Button>
                </td>
              </tr>
            ))}
          </ListTable>
        </>
      )}
      {isAdding && <OneOffForm onClose={() => setAdding(false)} />}
      {opened !== null && <OneOff event={opened} onClose={() => setOpened(null)} />}
    </>
  );
}

/** Badge and word of each status; the words are those of event triggers. */
const STATUSES: Readonly<Record<string, readonly [badge: string, word: string]>> = {
  scheduled: ['badge-accent', 'scheduled'],
  delivered: ['badge-ok', 'delivered'],
  error: ['badge-danger', 'failed'],
  dead: ['badge-danger', 'dead'],
};

function Status({ status }: { readonly status: string }) {
  const [badge, word] = STATUSES[status] ?? ['', status];
  return <span class={`badge ${badge}`}>{word}</span>;
}

function OneOff({ event, onClose }: { readonly event: JsonObject; onClose(): void }) {
  const id = String(event['id']);
  const { value } = useResource(async (signal) => {
    const json = await readOperation('get_scheduled_event_invocations', { type: 'one_off', event_id: id, limit: 50 }, { signal });
    return isObject(json) ? objectsIn(json['invocations']) : [];
  }, id);
  return (
    <Dialog title="One-off event" kind="wide" onClose={onClose}>
      <Printed name="Event" json={event} />
      <h3>Attempts</h3>
      {value === undefined ? <Loading what="the attempts" /> : <Attempts attempts={value} />}
    </Dialog>
  );
}
