import { useState } from 'preact/hooks';
import { readKindOperation } from '../../api/metadata.ts';
import { overview } from '../../api/overview.ts';
import { useResource } from '../../api/use-resource.ts';
import { place } from '../../browser/place.ts';
import { runOperation } from '../../features/attempt.ts';
import { type JsonObject, objectsIn } from '../../model/json.ts';
import { showToast } from '../../parts/toast.tsx';

export const PAGE_SIZE = 50;

export const STATES = [
  ['any', 'All'],
  ['pending', 'Pending'],
  ['delivered', 'Delivered'],
  ['error', 'Failed'],
] as const;

/** Hours back, `0` for all events. */
export const SPANS = [
  ['1', '1 h'],
  ['24', '24 h'],
  ['168', '7 d'],
  ['0', 'All time'],
] as const;

const HOUR_MS = 3_600_000;

function chosenOf<T extends string>(options: readonly (readonly [T, string])[], text: string | null, fallback: T): T {
  return options.find(([value]) => value === text)?.[0] ?? fallback;
}

/** Events of a trigger, newest first, with the filter in the address of the page. */
export function useTriggerEvents(source: string, name: string) {
  const { query } = place.value;
  const kind = overview.value?.sources.find((each) => each.name === source)?.kind;
  const state = chosenOf(STATES, query.get('state'), 'any');
  const span = chosenOf(SPANS, query.get('span'), '0');
  const [older, setOlder] = useState<readonly JsonObject[]>([]);
  const since: JsonObject = span === '0' ? {} : { since: new Date(Date.now() - Number(span) * HOUR_MS).toISOString() };
  const args: JsonObject = { source, name, limit: PAGE_SIZE, ...since, ...(state === 'any' ? {} : { status: state }) };
  const { value, failure, isLoading, reload, stop } = useResource(async (signal) => {
    setOlder([]);
    return kind === undefined ? [] : objectsIn(await readKindOperation(kind, 'get_event_logs', args, { signal }));
  }, `${source} ${name} ${kind} ${state} ${span}`);
  const events = [...(value ?? []), ...older];
  return {
    kind,
    state,
    span,
    isFiltered: state !== 'any' || span !== '0',
    events,
    isRead: value !== undefined,
    failure,
    isLoading,
    reload,
    stop,
    hasFailed: events.some(({ error, delivered }) => error === true && delivered !== true),
    async readOlder(): Promise<void> {
      const last = events.at(-1);
      if (kind === undefined || last === undefined) return;
      const page = objectsIn(await readKindOperation(kind, 'get_event_logs', { ...args, after: String(last['id']) }));
      setOlder([...older, ...page]);
      if (page.length === 0) showToast('There are no older events');
    },
    async redeliverFailed(): Promise<void> {
      const from: JsonObject = since['since'] === undefined ? {} : { created_from: since['since'] };
      if (await runOperation(`${kind}_redeliver_events`, { source, name, status: 'error', ...from }, 'Redelivery of failed events started'))
        reload();
    },
  };
}

export type TriggerEvents = ReturnType<typeof useTriggerEvents>;
