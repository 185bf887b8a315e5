/** Search of the queue of events beyond ordered events that wait for earlier ones. */
import type { CapturedEvent, FetchRequest } from '../../../backend/event-store.ts';

/** Ordered events that are read in addition to the limit of a queue. */
export const LOOKAHEAD = 400;

/** Maximum number of searches of one fetch. */
const MAX_SEARCHES = 10;

interface Found {
  readonly events: readonly CapturedEvent[];
  /** Names of queues that have more events beyond those that wait for others. */
  readonly stuck: readonly string[];
  /** True if other instances took all events that were found: the next search finds the ones after them. */
  readonly isOvertaken: boolean;
}

/**
 * @param take takes events under a lease
 * @param putAside postpones events of these queues that wait for others
 */
export async function searchEvents(
  request: FetchRequest,
  take: (request: FetchRequest) => Promise<Found>,
  putAside: (names: readonly string[]) => Promise<void>,
): Promise<readonly CapturedEvent[]> {
  const events: CapturedEvent[] = [];
  let { queues, bytes = Number.MAX_SAFE_INTEGER } = request;
  for (let search = 1; ; search++) {
    const { events: taken, stuck, isOvertaken } = await take({ ...request, queues, limit: request.limit - events.length, bytes });
    events.push(...taken);
    bytes -= taken.reduce((sum, { size = 0 }) => sum + size, 0);
    const isDone = events.length >= request.limit || bytes <= 0 || search === MAX_SEARCHES;
    if (isDone || (stuck.length === 0 && !isOvertaken)) return events;
    if (stuck.length === 0) continue;
    await putAside(stuck);
    const count = (name: string): number => taken.filter(({ queue }) => queue === name).length;
    queues = queues.filter(({ name }) => stuck.includes(name)).map((queue) => ({ ...queue, limit: queue.limit - count(queue.name) }));
  }
}
