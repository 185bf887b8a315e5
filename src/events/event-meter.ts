/** Counts deliveries. */
import type { DeliveryResult } from '../backend/event-store.ts';
import { METRICS } from '../observability/metrics/definitions.ts';
import type { Registry } from '../observability/metrics/registry.ts';
import type { DeliveryEnd } from './delivery.ts';

export class EventMeter {
  readonly #registry: Registry;
  /** When events were fetched; those of triggers of rows. */
  readonly #fetched = new WeakMap<object, number>();
  #lastBatch = 0;

  constructor(registry: Registry) {
    this.#registry = registry;
    registry.read(METRICS.eventsFetchedPerBatch, () => [{ labels: [], value: this.#lastBatch }]);
  }

  /** @param seconds that the fetch took */
  fetched(source: string, events: readonly object[], seconds: number): void {
    const now = performance.now();
    for (const event of events) this.#fetched.set(event, now);
    this.#lastBatch = events.length;
    this.#registry.counter(METRICS.eventsFetched, source).add(events.length);
    this.#registry.histogram(METRICS.eventFetchTime).observe(seconds);
  }

  /** An attempt to deliver an event begins. */
  begin(event: object, trigger: string, source: string): { called(seconds: number): void; ended(end: DeliveryEnd): void } {
    const registry = this.#registry;
    const fetched = this.#fetched.get(event) ?? performance.now();
    const since = (): number => (performance.now() - fetched) / 1000;
    registry.histogram(METRICS.eventQueueTime, trigger, source).observe(since());
    return {
      called: (seconds) => registry.histogram(METRICS.eventWebhookTime, trigger, source).observe(seconds),
      ended: ({ result, invocation }) => {
        registry.histogram(METRICS.eventProcessingTime, trigger, source).observe(since());
        if (invocation !== null) registry.counter(METRICS.eventInvocations, statusOf(result), trigger, source).add();
        if (isDone(result)) registry.counter(METRICS.eventsProcessed, statusOf(result), trigger, source).add();
      },
    };
  }

  scheduled(kind: 'cron' | 'one-off', { result, invocation }: DeliveryEnd): void {
    const [invocations, processed] =
      kind === 'cron' ? [METRICS.cronInvocations, METRICS.cronProcessed] : [METRICS.oneOffInvocations, METRICS.oneOffProcessed];
    if (invocation !== null) this.#registry.counter(invocations, statusOf(result)).add();
    if (isDone(result)) this.#registry.counter(processed, statusOf(result)).add();
  }
}

function statusOf({ kind }: DeliveryResult): 'success' | 'failed' {
  return kind === 'delivered' ? 'success' : 'failed';
}

function isDone({ kind }: DeliveryResult): boolean {
  return kind !== 'retry';
}
