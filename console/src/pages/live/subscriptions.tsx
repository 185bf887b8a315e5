import { useEffect, useState } from 'preact/hooks';
import { type Failure, failureOf, isAbort } from '../../api/failure.ts';
import { readOperation } from '../../api/metadata.ts';
import { hrefOf } from '../../browser/place.ts';
import { isObject, type JsonObject, objectsIn } from '../../model/json.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { ListTable } from '../../parts/list-table.tsx';
import { Loading } from '../../parts/loading.tsx';
import { shownError } from '../../parts/shown-error.ts';

const INTERVAL_MS = 2000;
/** Points of the sparkline: five minutes. */
const MAX_POINTS = 150;

interface Snapshot {
  readonly at: Date;
  readonly pollers: readonly JsonObject[];
}

/** Subscriptions of this instance: the statements of their pollers, and the time that they take. */
export function Subscriptions() {
  const [opened, setOpened] = useState<JsonObject | null>(null);
  const [isPaused, setPaused] = useState(false);
  const { snapshot, failure, history } = useSubscriptions(isPaused);
  const pollers = snapshot?.pollers ?? [];
  return (
    <>
      {failure !== undefined && (
        <ErrorBox error={shownError(failure)}>
          {snapshot !== undefined && <p class="muted">Last update: {snapshot.at.toLocaleTimeString()}</p>}
        </ErrorBox>
      )}
      {snapshot === undefined && failure === undefined && <Loading what="the subscriptions" />}
      {snapshot !== undefined && (
        <section class="card row" aria-label="Current totals">
          <span class="nowrap">
            <strong class="number">{total(pollers, 'subscribers')}</strong> subscribers
          </span>
          <span class="nowrap">
            <strong class="number">{pollers.length}</strong> statements
          </span>
          <span class="nowrap">
            <strong class="number">{total(pollers, 'cohorts')}</strong> cohorts
          </span>
          <span class="end" />
          <Sparkline values={history} />
          <Button small pressed={isPaused} icon={isPaused ? 'play' : 'stop'} onClick={() => setPaused(!isPaused)}>
            {isPaused ? 'Resume' : 'Pause'}
          </Button>
        </section>
      )}
      {snapshot !== undefined && pollers.length === 0 && (
        <EmptyState icon="live" title="No subscriptions">
          Active subscriptions of this instance appear here. Start one in the <a href={hrefOf(['explorer'])}>Explorer</a>.
        </EmptyState>
      )}
      {pollers.length > 0 && <Pollers pollers={pollers} onOpen={setOpened} />}
      {opened !== null && (
        <Dialog title={`${String(opened['kind'])} of ${String(opened['role'])}`} kind="wide" onClose={() => setOpened(null)}>
          <p class="muted">{String(opened['reason'])}</p>
          <h3>Query</h3>
          <pre class="code-block mono">{String(opened['query'])}</pre>
          <h3>SQL statement</h3>
          <pre class="code-block mono">{String(opened['sql'])}</pre>
        </Dialog>
      )}
    </>
  );
}

function Pollers({ pollers, onOpen }: { readonly pollers: readonly JsonObject[]; onOpen(poller: JsonObject): void }) {
  return (
    <ListTable
      name="Subscription statements"
      columns={['Query', 'Role', 'Source', 'Subscribers', 'Cohorts', 'Runs', 'Last run (ms)', 'Trigger']}
      isCard
    >
      {pollers.map((poller) => (
        <tr key={String(poller['poller_id'])}>
          <td>
            <Button kind="link" onClick={() => onOpen(poller)}>
              {String(poller['query']).replace(/\s+/g, ' ').slice(0, 60)}
            </Button>
          </td>
          <td>{String(poller['role'])}</td>
          <td>{String(poller['source'])}</td>
          <td class="number">{String(poller['subscribers'])}</td>
          <td class="number">
            {String(poller['cohorts'])}
            {Number(poller['failing_cohorts']) > 0 && <span class="badge badge-danger">{String(poller['failing_cohorts'])} failing</span>}
          </td>
          <td class="number">{String(poller['runs'])}</td>
          <td class="number">{lastOf(poller)}</td>
          <td title={String(poller['reason'])}>{String(poller['waits_for'])}</td>
        </tr>
      ))}
    </ListTable>
  );
}

/** Reads the subscriptions every two seconds while the page is visible. */
function useSubscriptions(isPaused: boolean) {
  const [snapshot, setSnapshot] = useState<Snapshot>();
  const [failure, setFailure] = useState<Failure>();
  const [history, setHistory] = useState<readonly number[]>([]);
  useEffect(() => {
    if (isPaused) return;
    const ended = new AbortController();
    const poll = async (): Promise<void> => {
      if (document.visibilityState !== 'visible') return;
      try {
        const json = await readOperation('get_subscriptions', {}, { signal: ended.signal });
        const pollers = isObject(json) ? objectsIn(json['pollers']) : [];
        setSnapshot({ at: new Date(), pollers });
        setHistory((before) => [...before.slice(1 - MAX_POINTS), total(pollers, 'subscribers')]);
        setFailure(undefined);
      } catch (error) {
        if (!isAbort(error)) setFailure(failureOf(error));
      }
    };
    void poll();
    const timer = setInterval(() => void poll(), INTERVAL_MS);
    return () => {
      ended.abort();
      clearInterval(timer);
    };
  }, [isPaused]);
  return { snapshot, failure, history };
}

function total(pollers: readonly JsonObject[], key: string): number {
  return pollers.reduce((sum, poller) => sum + Number(poller[key] ?? 0), 0);
}

function lastOf({ last_run: last }: JsonObject): string {
  return isObject(last) ? String(last['total_time']) : '';
}

function Sparkline({ values }: { readonly values: readonly number[] }) {
  const [width, height] = [150, 28];
  const top = Math.max(1, ...values);
  const points = values
    .map((value, index) => `${(index * width) / (MAX_POINTS - 1)},${height - 2 - (value / top) * (height - 4)}`)
    .join(' ');
  return (
    <svg viewBox={`0 0 ${width} ${height}`} width={width} height={height} role="img" aria-label="Subscribers in the last 5 minutes">
      <polyline points={points} fill="none" stroke="currentColor" stroke-width="1.5" />
    </svg>
  );
}
