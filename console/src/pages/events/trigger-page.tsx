import { useState } from 'preact/hooks';
import { makeChange } from '../../api/changes.ts';
import { failureOf } from '../../api/failure.ts';
import { askKind } from '../../api/metadata.ts';
import { overview } from '../../api/overview.ts';
import { objectsIn } from '../../api/sections.ts';
import { isReadOnly, READ_ONLY_REASON } from '../../api/settings.ts';
import { useResource } from '../../api/use-resource.ts';
import { go, hrefOf, place, setQuery } from '../../browser/place.ts';
import { act } from '../../features/attempt.ts';
import { JsonDialog } from '../../features/json-dialog.tsx';
import { perform } from '../../api/metadata.ts';
import { isObject, type JsonObject, printJson } from '../../model/json.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Icon } from '../../parts/icon.tsx';
import { ListTable } from '../../parts/list-table.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Menu } from '../../parts/menu.tsx';
import { shownError } from '../../parts/shown-error.ts';
import { Segments } from '../../parts/tabs.tsx';
import { tell } from '../../parts/toast.tsx';
import { EventDialog } from './event-dialog.tsx';
import { EventState } from './event-state.tsx';
import { changeOfTrigger, readTrigger, type TableTrigger } from './trigger-change.ts';
import { TriggerForm } from './trigger-form.tsx';

const PAGE = 50;
const STATES = [
  ['any', 'All'],
  ['pending', 'Pending'],
  ['delivered', 'Delivered'],
  ['error', 'Failed'],
] as const;
const SPANS = [
  ['1', '1 h'],
  ['24', '24 h'],
  ['168', '7 d'],
  ['0', 'Ever'],
] as const;
const HOUR_MS = 3_600_000;

type State = (typeof STATES)[number][0];
type Span = (typeof SPANS)[number][0];

function chosenOf<T extends string>(options: readonly (readonly [T, string])[], given: string | null, otherwise: T): T {
  return options.find(([value]) => value === given)?.[0] ?? otherwise;
}

/** One event trigger: its events, newest first, and delivering them again. */
export function TriggerPage({ source, name }: { readonly source: string; readonly name: string }) {
  const { query } = place.value;
  const kind = overview.value?.sources.find((each) => each.name === source)?.kind;
  const state = chosenOf<State>(STATES, query.get('state'), 'any');
  const span = chosenOf<Span>(SPANS, query.get('span'), '0');
  const [older, setOlder] = useState<readonly JsonObject[]>([]);
  const [opened, setOpened] = useState<string | null>(null);
  const [isInvoking, setInvoking] = useState(false);
  const [edited, setEdited] = useState<{ readonly as: 'form' | 'json'; readonly of: TableTrigger } | null>(null);
  const since: JsonObject = span === '0' ? {} : { since: new Date(Date.now() - Number(span) * HOUR_MS).toISOString() };
  const wanted: JsonObject = { source, name, limit: PAGE, ...since, ...(state === 'any' ? {} : { status: state }) };
  const { value, failure, isLoading, reload, stop } = useResource(async (signal) => {
    setOlder([]);
    return kind === undefined ? [] : objectsIn(await askKind(kind, 'get_event_logs', wanted, { signal }));
  }, `${source} ${name} ${kind} ${state} ${span}`);
  const events = [...(value ?? []), ...older];
  const more = async (): Promise<void> => {
    const last = events.at(-1);
    if (kind === undefined || last === undefined) return;
    const page = objectsIn(await askKind(kind, 'get_event_logs', { ...wanted, after: String(last['id']) }));
    setOlder([...older, ...page]);
    if (page.length === 0) tell('There are no older events.');
  };
  const failed = events.filter(({ error, delivered }) => error === true && delivered !== true).length;
  const redeliverAll = async (): Promise<void> => {
    const from: JsonObject = since['since'] === undefined ? {} : { created_from: since['since'] };
    if (await act(`${kind}_redeliver_events`, { source, name, status: 'error', ...from }, 'The failed events are delivered again.'))
      reload();
  };
  const remove = async (): Promise<void> => {
    try {
      const done = await makeChange(await changeOfTrigger(source, String(kind), name, `Delete the event trigger ${name}`, null));
      if (done !== null) go(['events']);
    } catch (error) {
      tell(failureOf(error).message, { isWrong: true });
    }
  };
  const edit = async (as: 'form' | 'json'): Promise<void> => {
    try {
      setEdited({ as, of: await readTrigger(source, String(kind), name) });
    } catch (error) {
      tell(failureOf(error).message, { isWrong: true });
    }
  };
  const refusal = isReadOnly ? READ_ONLY_REASON : undefined;
  return (
    <div class="page">
      <header>
        <a href={hrefOf(['events'])}>Events</a>
        <Icon name="right" />
        <h1>{name}</h1>
        <span class="badge">{source}</span>
        <span class="end row-tight">
          <Button icon="reload" name="Read the events again" onClick={reload} />
          <Button icon="play" title={`${kind}_invoke_event_trigger`} refusal={refusal} onClick={() => setInvoking(true)}>
            Invoke …
          </Button>
          <Button icon="edit" title={`${kind}_create_event_trigger`} refusal={refusal} onClick={() => void edit('form')}>
            Edit …
          </Button>
          <Menu
            icon="more"
            name="More"
            items={[
              { label: 'Edit as JSON …', icon: 'edit', refusal, run: () => void edit('json') },
              { label: 'Delete this trigger …', icon: 'trash', danger: true, refusal, run: () => void remove() },
            ]}
          />
        </span>
      </header>
      <div class="row">
        <Segments name="State" options={STATES} chosen={state} onChoose={(next) => setQuery({ state: next })} />
        <Segments name="Made within" options={SPANS} chosen={span} onChoose={(next) => setQuery({ span: next })} />
        <span class="end" />
        <Button
          title={`${kind}_redeliver_events`}
          refusal={refusal ?? (failed === 0 ? 'No failed event is listed' : undefined)}
          onClick={() => void redeliverAll()}
        >
          Redeliver all failed{span === '0' ? '' : ` of ${SPANS.find(([value]) => value === span)?.[1]}`}
        </Button>
      </div>
      {failure !== undefined && <ErrorBox error={shownError(failure)} onRetry={reload} />}
      {value === undefined && isLoading && <Loading what="the events" onStop={stop} />}
      {value !== undefined && events.length === 0 && (
        <EmptyState icon="events" title="No events here">
          {state === 'any' && span === '0'
            ? 'Change a row of the table, or invoke the trigger by hand.'
            : 'Choose another state or a longer time.'}
        </EmptyState>
      )}
      {events.length > 0 && (
        <ListTable name={`Events of ${name}, newest first`} columns={['Made', 'State', 'Change', 'Attempts', 'Event']} isCard>
          {events.map((event) => (
            <tr key={String(event['id'])}>
              <td class="nowrap">{new Date(`${String(event['created_at'])}Z`).toLocaleString()}</td>
              <td>
                <EventState event={event} />
              </td>
              <td>{operationOf(event)}</td>
              <td class="number">{String(event['tries'])}</td>
              <td>
                <Button kind="link" onClick={() => setOpened(String(event['id']))}>
                  {String(event['id'])}
                </Button>
              </td>
            </tr>
          ))}
        </ListTable>
      )}
      {events.length >= PAGE && (
        <div class="row">
          <Button onClick={() => void more()}>Older</Button>
        </div>
      )}
      {opened !== null && kind !== undefined && (
        <EventDialog source={source} kind={kind} id={opened} onClose={() => setOpened(null)} onSettled={reload} />
      )}
      {edited?.as === 'form' && <TriggerForm of={edited.of} onClose={() => setEdited(null)} />}
      {edited?.as === 'json' && (
        <JsonDialog
          title={`Event trigger ${name}`}
          text={printJson(edited.of.trigger, 2)}
          action="Save"
          onClose={() => setEdited(null)}
          onSubmit={async (written) => {
            if (!isObject(written)) throw new SyntaxError('an event trigger is an object');
            if (written['name'] !== name) throw new SyntaxError('an event trigger keeps its name: make another one, and delete this one');
            const change = await changeOfTrigger(source, String(kind), name, `Event trigger ${name}`, written, edited.of.trigger);
            if ((await makeChange(change)) !== null) setEdited(null);
          }}
        >
          <p class="muted">
            <code>definition</code> says which changes of which columns are told; <code>retry_conf</code>, <code>headers</code>, transforms
            and <code>cleanup_config</code> stand beside it.
          </p>
        </JsonDialog>
      )}
      {isInvoking && (
        <JsonDialog
          title={`Invoke ${name}`}
          text=""
          action="Invoke"
          onClose={() => setInvoking(false)}
          onSubmit={async (payload) => {
            await perform([{ type: `${kind}_invoke_event_trigger`, args: { source, name, payload } }]);
            setInvoking(false);
            tell('The event waits for its delivery.');
            setTimeout(reload, 500);
          }}
        >
          <p class="muted">
            The new row that the webhook gets, such as <code>{'{"id": 1}'}</code>. The trigger has to allow invocations by hand.
          </p>
        </JsonDialog>
      )}
    </div>
  );
}

function operationOf({ payload }: JsonObject): string {
  return typeof payload === 'object' && payload !== null && 'op' in payload ? String(payload['op']) : '';
}
