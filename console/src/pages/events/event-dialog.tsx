import { useEffect, useRef, useState } from 'preact/hooks';
import { readKindOperation } from '../../api/metadata.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import { useResource } from '../../api/use-resource.ts';
import { runOperation } from '../../features/attempt.ts';
import { isObject, type JsonObject, objectsIn } from '../../model/json.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { EventState } from './event-state.tsx';
import { Attempts, Printed } from './attempts.tsx';

const POLL_MS = 700;

/** An event with its delivery attempts. After a redelivery it is polled until it is delivered or has failed. */
export function EventDialog({
  source,
  kind,
  id,
  onClose,
  onSettled,
}: {
  readonly source: string;
  readonly kind: string;
  readonly id: string;
  onClose(): void;
  onSettled(): void;
}) {
  const [isPolling, setPolling] = useState(false);
  const { value, failure, isLoading, reload } = useResource(async (signal) => {
    const json = await readKindOperation(kind, 'get_event_by_id', { source, event_id: id }, { signal });
    const event: JsonObject = isObject(json) && isObject(json['event']) ? json['event'] : {};
    return { event, attempts: isObject(json) ? objectsIn(json['invocations']) : [] };
  }, id);
  /** Last value from before the redelivery, without its result. */
  const before = useRef(value);
  const isSettled = value !== undefined && value !== before.current && (value.event['delivered'] === true || value.event['error'] === true);
  useEffect(() => {
    if (!isPolling) return;
    if (isSettled) {
      setPolling(false);
      onSettled();
      return;
    }
    const timer = setTimeout(reload, POLL_MS);
    return () => clearTimeout(timer);
  }, [isPolling, value]);
  const redeliver = async (): Promise<void> => {
    if (!(await runOperation(`${kind}_redeliver_event`, { source, event_id: id }, 'Redelivery started'))) return;
    before.current = value;
    setPolling(true);
    reload();
  };
  return (
    <Dialog
      title="Event"
      kind="wide"
      onClose={onClose}
      footer={
        <Button
          kind="primary"
          icon="reload"
          title={`${kind}_redeliver_event`}
          refusal={isReadOnly ? READ_ONLY_REASON : isPolling ? 'Delivering …' : undefined}
          onClick={() => void redeliver()}
        >
          Redeliver
        </Button>
      }
    >
      {failure !== undefined && <ErrorBox error={shownError(failure)} onRetry={reload} />}
      {value === undefined && isLoading && <Loading what="the event" />}
      {value !== undefined && (
        <>
          <div class="row" role="status">
            <EventState event={value.event} /> <code class="small">{id}</code>
            <span class="muted small">{new Date(`${String(value.event['created_at'])}Z`).toLocaleString()}</span>
          </div>
          <h3>Attempts</h3>
          <Attempts attempts={value.attempts} />
          <h3>Payload</h3>
          <Printed name="Payload" json={value.event['payload'] ?? null} />
        </>
      )}
    </Dialog>
  );
}
