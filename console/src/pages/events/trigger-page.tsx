import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { failureOf } from '../../api/failure.ts';
import { runSteps } from '../../api/metadata.ts';
import { readOnlyRefusal } from '../../api/settings.ts';
import { useResource } from '../../api/use-resource.ts';
import { overview } from '../../api/overview.ts';
import { go, hrefOf, setQuery } from '../../browser/place.ts';
import { InconsistencyNote } from '../../features/inconsistency-note.tsx';
import { JsonDialog } from '../../features/json-dialog.tsx';
import { isObject, type Json, type JsonObject, printJson } from '../../model/json.ts';
import { labelOf } from '../../model/steps.ts';
import { CAPTURED, triggerDraft } from '../../model/trigger-draft.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Icon } from '../../parts/icon.tsx';
import { ListTable } from '../../parts/list-table.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Menu } from '../../parts/menu.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { Segments } from '../../parts/tabs.tsx';
import { showToast } from '../../parts/toast.tsx';
import { EventDialog } from './event-dialog.tsx';
import { EventState } from './event-state.tsx';
import { changeOfTrigger, readTrigger, type TableTrigger } from './trigger-change.ts';
import { TriggerForm } from './trigger-form.tsx';
import { PAGE_SIZE, SPANS, STATES, type TriggerEvents, useTriggerEvents } from './use-trigger-events.ts';

interface TriggerPageProps {
  readonly source: string;
  readonly name: string;
}

interface EditedTrigger {
  readonly as: 'form' | 'json';
  readonly of: TableTrigger;
}

/** An event trigger: its events and their deliveries, with what can be done with both. */
export function TriggerPage({ source, name }: TriggerPageProps) {
  const state = useTriggerEvents(source, name);
  const { kind, events, isRead, isLoading, failure, reload, stop, isFiltered } = state;
  const [openedId, setOpenedId] = useState<string | null>(null);
  const [isInvoking, setInvoking] = useState(false);
  const [edited, setEdited] = useState<EditedTrigger | null>(null);
  const remove = async (): Promise<void> => {
    try {
      const done = await makeChange(await changeOfTrigger(source, String(kind), name, `Delete event trigger ${name}`, null));
      if (done !== null) go(['events']);
    } catch (error) {
      showToast(failureOf(error).message, { isError: true });
    }
  };
  const edit = async (as: 'form' | 'json'): Promise<void> => {
    try {
      setEdited({ as, of: await readTrigger(source, String(kind), name) });
    } catch (error) {
      showToast(failureOf(error).message, { isError: true });
    }
  };
  const close = (): void => setEdited(null);
  return (
    <div class="page">
      <header>
        <a href={hrefOf(['events'])}>Events</a>
        <Icon name="right" />
        <h1>{name}</h1>
        <span class="badge">{source}</span>
        <span class="end row-tight">
          <Button icon="reload" name="Refresh events" onClick={reload} />
          <Button icon="play" title={`${kind}_invoke_event_trigger`} refusal={readOnlyRefusal} onClick={() => setInvoking(true)}>
            Invoke …
          </Button>
          <Button icon="edit" title={`${kind}_create_event_trigger`} refusal={readOnlyRefusal} onClick={() => void edit('form')}>
            Edit …
          </Button>
          <Menu
            icon="more"
            name="More"
            items={[
              { label: 'Edit as JSON …', icon: 'edit', refusal: readOnlyRefusal, run: () => void edit('json') },
              { label: 'Delete trigger …', icon: 'trash', danger: true, refusal: readOnlyRefusal, run: () => void remove() },
            ]}
          />
        </span>
      </header>
      {kind !== undefined && <Definition source={source} kind={kind} name={name} />}
      <InconsistencyNote isShown={(path) => path.join('/') === ['events', 'triggers', source, name].join('/')} />
      <EventFilter state={state} />
      {failure !== undefined && <ErrorBox error={shownError(failure)} onRetry={reload} />}
      {!isRead && isLoading && <Loading what="the events" onStop={stop} />}
      {isRead && events.length === 0 && (
        <EmptyState icon="events" title="No events">
          {isFiltered ? 'Select another status or a longer period.' : 'Change a row of the table, or invoke the trigger manually.'}
        </EmptyState>
      )}
      {events.length > 0 && <EventList name={name} events={events} onOpen={setOpenedId} />}
      {events.length >= PAGE_SIZE && (
        <div class="row">
          <Button onClick={() => void state.readOlder()}>Load older events</Button>
        </div>
      )}
      {openedId !== null && kind !== undefined && (
        <EventDialog source={source} kind={kind} id={openedId} onClose={() => setOpenedId(null)} onSettled={reload} />
      )}
      {edited?.as === 'form' && <TriggerForm of={edited.of} onClose={close} />}
      {edited?.as === 'json' && <TriggerJson source={source} kind={String(kind)} name={name} stored={edited.of.trigger} onClose={close} />}
      {isInvoking && <InvokeDialog source={source} kind={String(kind)} name={name} onClose={() => setInvoking(false)} onInvoked={reload} />}
    </div>
  );
}

/** Table, operations and webhook of the trigger. */
function Definition({ source, kind, name }: TriggerPageProps & { readonly kind: string }) {
  const { value } = useResource(() => readTrigger(source, kind, name), `${source} ${name} ${overview.value?.version}`, { keeps: true });
  if (value === undefined) return null;
  const { address, trigger } = value;
  const { operations, isManual, webhook, isFromEnvironment } = triggerDraft(trigger);
  const table = labelOf(address.table);
  const captured = CAPTURED.filter((each) => operations[each].isOn);
  return (
    <p class="muted break">
      {captured.join(', ')}
      {captured.length > 0 && ' on '}
      <a href={hrefOf(['data', source, table])}>{table}</a>
      {isManual && (captured.length > 0 ? ', or invoked manually' : ', invoked manually')}, sent to{' '}
      <code>{isFromEnvironment ? `the URL in ${webhook}` : webhook}</code>
    </p>
  );
}

function EventFilter({ state: { kind, state, span, hasFailed, redeliverFailed } }: { readonly state: TriggerEvents }) {
  return (
    <div class="row">
      <Segments name="Status" options={STATES} chosen={state} onChoose={(next) => setQuery({ state: next })} />
      <Segments name="Period" options={SPANS} chosen={span} onChoose={(next) => setQuery({ span: next })} />
      <span class="end" />
      <Button
        title={`${kind}_redeliver_events`}
        refusal={readOnlyRefusal ?? (hasFailed ? undefined : 'No failed events')}
        onClick={() => void redeliverFailed()}
      >
        Redeliver all failed{span === '0' ? '' : ` (${SPANS.find(([value]) => value === span)?.[1]})`}
      </Button>
    </div>
  );
}

function EventList({ name, events, onOpen }: { readonly name: string; readonly events: readonly JsonObject[]; onOpen(id: string): void }) {
  return (
    <ListTable name={`Events of ${name}, newest first`} columns={['Created', 'Status', 'Operation', 'Attempts', 'Event']} isCard>
      {events.map((event) => (
        <tr key={String(event['id'])}>
          <td class="nowrap">{new Date(`${String(event['created_at'])}Z`).toLocaleString()}</td>
          <td class="nowrap">
            <EventState event={event} />
          </td>
          <td class="nowrap">{operationOf(event)}</td>
          <td class="number">{String(event['tries'])}</td>
          <td>
            <Button kind="link" onClick={() => onOpen(String(event['id']))}>
              {String(event['id'])}
            </Button>
          </td>
        </tr>
      ))}
    </ListTable>
  );
}

function operationOf({ payload }: JsonObject): string {
  return isObject(payload) && 'op' in payload ? String(payload['op']) : '';
}

interface DialogProps extends TriggerPageProps {
  readonly kind: string;
  onClose(): void;
}

/** @param stored the trigger as it was read when the dialog opened */
function TriggerJson({ source, kind, name, stored, onClose }: DialogProps & { readonly stored: JsonObject }) {
  const save = async (trigger: Json): Promise<void> => {
    if (!isObject(trigger)) throw new SyntaxError('expected a JSON object');
    if (trigger['name'] !== name) throw new SyntaxError('an event trigger cannot be renamed: create a new one and delete this one');
    const change = await changeOfTrigger(source, kind, name, `Event trigger ${name}`, trigger, stored);
    if ((await makeChange(change)) !== null) onClose();
  };
  return (
    <JsonDialog title={`Event trigger ${name}`} text={printJson(stored, 2)} action="Save" onClose={onClose} onSubmit={save}>
      <p class="muted">
        <code>definition</code> lists the operations and columns. Other keys are <code>retry_conf</code>, <code>headers</code>,{' '}
        <code>request_transform</code>, <code>response_transform</code> and <code>cleanup_config</code>.
      </p>
    </JsonDialog>
  );
}

function InvokeDialog({ source, kind, name, onClose, onInvoked }: DialogProps & { onInvoked(): void }) {
  const invoke = async (payload: Json): Promise<void> => {
    await runSteps([{ type: `${kind}_invoke_event_trigger`, args: { source, name, payload } }]);
    onClose();
    showToast('Event created');
    setTimeout(onInvoked, 500);
  };
  return (
    <JsonDialog title={`Invoke ${name}`} text="" action="Invoke" onClose={onClose} onSubmit={invoke}>
      <p class="muted">
        The new row for the webhook, such as <code>{'{"id": 1}'}</code>. The trigger must allow manual invocation.
      </p>
    </JsonDialog>
  );
}
