/** Logs the number of fetched events every ten seconds; an entry for each fetch would be too much. */
export interface FetchStatistics {
  /** @param of a source, or a kind of event */
  count(of: string, events: number): void;
  /** Logs the remaining counts. */
  stop(): void;
}

const INTERVAL_MS = 10_000;

/** @param log called with the number of events by source or kind, and the number of fetches */
export function createFetchStatistics(log: (events: ReadonlyMap<string, number>, fetches: number) => void): FetchStatistics {
  let events = new Map<string, number>();
  let fetches = 0;
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (fetches > 0) log(events, fetches);
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
