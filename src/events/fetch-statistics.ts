/** Tells now and then how much was fetched: of every fetch would be too often. */
export interface FetchStatistics {
  /** @param of a source, or a kind of event */
  count(of: string, events: number): void;
  /** Tells what is left to tell. */
  stop(): void;
}

const INTERVAL_MS = 10_000;

/** @param tell the events by what they are of, and how many fetches brought them */
export function createFetchStatistics(tell: (events: ReadonlyMap<string, number>, fetches: number) => void): FetchStatistics {
  let events = new Map<string, number>();
  let fetches = 0;
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (fetches > 0) tell(events, fetches);
    events = new Map();
    fetches = 0;
  };
  return {
    count(of, added) {
      events.set(of, (events.get(of) ?? 0) + added);
      fetches += 1;
      timer ??= setTimeout(flush, INTERVAL_MS);
    },
    stop: flush,
  };
}
