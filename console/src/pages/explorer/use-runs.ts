import { useEffect, useRef, useState } from 'preact/hooks';
import { failureOf, isAbort } from '../../api/failure.ts';
import { type GraphqlEndpoint, type GraphqlRequest, sendGraphql } from '../../api/graphql.ts';
import { subscribe, type SubscriptionSink } from '../../api/subscribe.ts';
import type { RequestHeaders } from '../../model/request-headers.ts';
import type { Run } from './run.ts';

interface RunOptions {
  readonly isSubscription: boolean;
  readonly endpoint: GraphqlEndpoint;
}

interface Runs {
  readonly runs: readonly Run[];
  /** Sends a request once per set of headers; requests that are still running are stopped. */
  start(request: GraphqlRequest, headers: readonly RequestHeaders[], how: RunOptions): Promise<void>;
  stop(): void;
}

/** Requests of the explorer and their answers. Running requests end with the component. */
export function useRuns(): Runs {
  const [runs, setRuns] = useState<readonly Run[]>([]);
  const cancellations = useRef<(() => void)[]>([]);
  const stop = (): void => {
    for (const cancel of cancellations.current) cancel();
    cancellations.current = [];
    setRuns((before) => before.map((run) => ({ ...run, isRunning: false })));
  };
  useEffect(() => stop, []);
  const start: Runs['start'] = async (request, headers, { isSubscription, endpoint }) => {
    stop();
    setRuns(headers.map(({ as }) => ({ as, response: undefined, event: undefined, events: 0, failure: undefined, isRunning: true })));
    const change = (index: number, changed: (run: Run) => Partial<Run>): void =>
      setRuns((before) => before.map((run, at) => (at === index ? { ...run, ...changed(run) } : run)));
    await Promise.all(
      headers.map(async (each, index) => {
        try {
          if (isSubscription) {
            const sink: SubscriptionSink = {
              next: (event) => change(index, ({ events }) => ({ event, events: events + 1 })),
              failed: (message) => change(index, () => ({ failure: failureOf(new Error(message)), isRunning: false })),
              ended: () => change(index, () => ({ isRunning: false })),
            };
            const unsubscribe = await subscribe(request, each, sink, endpoint);
            cancellations.current.push(unsubscribe);
            return;
          }
          const controller = new AbortController();
          cancellations.current.push(() => controller.abort());
          const response = await sendGraphql(request, each, controller.signal, endpoint);
          change(index, () => ({ response, isRunning: false }));
        } catch (error) {
          if (!isAbort(error)) change(index, () => ({ failure: failureOf(error), isRunning: false }));
        }
      }),
    );
  };
  return { runs, start, stop };
}
