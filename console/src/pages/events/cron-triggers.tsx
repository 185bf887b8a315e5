import { useState } from 'preact/hooks';
import { readOperation } from '../../api/metadata.ts';
import { overview } from '../../api/overview.ts';
import { readOnlyRefusal } from '../../api/settings.ts';
import { useResource } from '../../api/use-resource.ts';
import { attempt } from '../../features/attempt.ts';
import { isObject, type JsonObject, objectsIn } from '../../model/json.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { Attempts } from './attempts.tsx';
import { CronForm, cronPart, readCronTriggers } from './cron-form.tsx';

const NEXT = 5;

/** Cron triggers with their next times and recent calls. */
export function CronTriggers() {
  const [edited, setEdited] = useState<JsonObject | 'new' | null>(null);
  const { value, failure, isLoading, reload } = useResource(readCronTriggers, `${overview.value?.version}`);
  const add = (
    <Button kind="primary" icon="plus" refusal={readOnlyRefusal} onClick={() => setEdited('new')}>
      New cron trigger
    </Button>
  );
  return (
    <>
      {failure !== undefined && <ErrorBox error={shownError(failure)} onRetry={reload} />}
      {value === undefined && isLoading && <Loading what="the cron triggers" />}
      {value?.length === 0 && (
        <EmptyState icon="history" title="No cron triggers" actions={add}>
          A cron trigger calls a webhook on a schedule.
        </EmptyState>
      )}
      {value !== undefined && value.length > 0 && <div class="row-end">{add}</div>}
      {value?.map((trigger) => (
        <CronTrigger key={String(trigger['name'])} trigger={trigger} onEdit={() => setEdited(trigger)} />
      ))}
      {edited !== null && <CronForm before={edited === 'new' ? undefined : edited} onClose={() => setEdited(null)} />}
    </>
  );
}

function CronTrigger({ trigger, onEdit }: { readonly trigger: JsonObject; onEdit(): void }) {
  const name = String(trigger['name']);
  const { value } = useResource(async (signal) => {
    const [events, calls] = await Promise.all([
      readOperation('get_scheduled_events', { type: 'cron', trigger_name: name, status: ['scheduled'], limit: NEXT }, { signal }),
      readOperation('get_scheduled_event_invocations', { type: 'cron', trigger_name: name, limit: NEXT }, { signal }),
    ]);
    return {
      next: isObject(events) ? objectsIn(events['events']) : [],
      calls: isObject(calls) ? objectsIn(calls['invocations']) : [],
    };
  }, `${name} ${overview.value?.version}`);
  const remove = (): void =>
    void attempt({
      title: `Delete cron trigger ${name}`,
      review: true,
      steps: () => [{ type: 'delete_cron_trigger', args: { name } }],
      parts: [cronPart(name)],
      inverse: ([was = null]) => (isObject(was) ? [{ type: 'create_cron_trigger', args: was }] : []),
    });
  return (
    <section class="card stack">
      <header>
        <h2 class="grow">
          {name} <code>{String(trigger['schedule'])}</code>
        </h2>
        <Button small icon="edit" refusal={readOnlyRefusal} onClick={onEdit}>
          Edit
        </Button>
        <Button small icon="trash" refusal={readOnlyRefusal} onClick={remove}>
          Delete …
        </Button>
      </header>
      <p class="muted small break">
        {String(trigger['webhook'])} {typeof trigger['comment'] === 'string' && `· ${trigger['comment']}`}
      </p>
      <h3>Next times</h3>
      {value === undefined ? (
        <Loading what="the next times" />
      ) : value.next.length === 0 ? (
        <p class="muted">No calls scheduled yet</p>
      ) : (
        <ul class="row">
          {value.next.map((event) => (
            <li key={String(event['id'])} class="badge">
              {new Date(String(event['scheduled_time'])).toLocaleString()}
            </li>
          ))}
        </ul>
      )}
      {value !== undefined && value.calls.length > 0 && (
        <>
          <h3>Recent calls</h3>
          <Attempts attempts={value.calls} />
        </>
      )}
    </section>
  );
}
