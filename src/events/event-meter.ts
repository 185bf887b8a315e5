/** Metrics of deliveries. */
import type { CapturedEvent, DeliveryResult } from '../backend/event-store.ts';
import { METRICS } from '../observability/metrics/definitions.ts';
import type { Registry } from '../observability/metrics/registry.ts';
import type { ScheduledEvent } from '../metadata-store/scheduled-event-store.ts';
import type { DeliveryEnd } from './delivery.ts';

export class EventMeter {
  readonly #registry: Registry;
  /** Fetch times of captured events. */
  readonly #fetched = new WeakMap<object, number>();
  #lastBatch = 0;

  constructor(registry: Registry) {
    this.#registry = registry;
    registry.read(METRICS.eventsFetchedPerBatch, () => [{ labels: [], value: this.#lastBatch }]);
  }

  /** @param seconds duration of the fetch */
  fetched(source: string, events: readonly object[], seconds: number): void {
    const now = performance.now();
    for (const event of events) this.#fetched.set(event, now);
    this.#lastBatch = events.length;
    this.#registry.counter(METRICS.eventsFetched, source).add(events.length);
    this.#registry.histogram(METRICS.eventFetchTime).observe(seconds);
  }

  /** Called after a query for events. */
  queried(source: string, seconds: number, isAnswered: boolean): void {
    this.#registry.histogram(METRICS.eventFetchQueryTime, isAnswered ? 'success' : 'failed', source).observe(seconds);
  }

  /** Called when an attempt starts. */
  begin(event: CapturedEvent, trigger: string, source: string): { onCalled(seconds: number): void; onEnd(end: DeliveryEnd): void } {
    const registry = this.#registry;
    const fetched = this.#fetched.get(event) ?? performance.now();
    const since = (): number => (performance.now() - fetched) / 1000;
    registry.histogram(METRICS.eventQueueTime, trigger, source).observe(since());
    return {
      onCalled: (seconds) => registry.histogram(METRICS.eventWebhookTime, trigger, source).observe(seconds),
      onEnd: ({ result, invocation }) => {
        registry.histogram(METRICS.eventProcessingTime, trigger, source).observe(event.age + since());
        if (invocation !== null) registry.counter(METRICS.eventInvocations, statusOf(result), trigger, source).add();
        if (isDone(result)) registry.counter(METRICS.eventsProcessed, statusOf(result), trigger, source).add();
        if (isDead(result)) registry.counter(METRICS.eventsDead, 'event', trigger, source).add();
      },
    };
  }

  scheduled({ kind, queue, delay, tries }: ScheduledEvent, { result, invocation }: DeliveryEnd): void {
    const type = kind === 'cron' ? 'cron' : 'oneoff';
    // Includes events that are not sent because they are too late.
    if (tries === 0 && isAttempt(result, invocation))
      this.#registry.histogram(METRICS.scheduledEventDelay, type).observe(Math.max(0, delay));
    if (isDead(result)) this.#registry.counter(METRICS.eventsDead, type, queue, '').add();
    const [invocations, processed] =
      kind === 'cron' ? [METRICS.cronInvocations, METRICS.cronProcessed] : [METRICS.oneOffInvocations, METRICS.oneOffProcessed];
    if (invocation !== null) this.#registry.counter(invocations, statusOf(result)).add();
    if (isDone(result)) this.#registry.counter(processed, statusOf(result)).add();
  }
}

function statusOf({ kind }: DeliveryResult): 'success' | 'failed' {
  return kind === 'delivered' ? 'success' : 'failed';
}

function isDead({ kind }: DeliveryResult): boolean {
  return kind === 'failed' || kind === 'dead';
}

/** False for events without a trigger. */
function isAttempt({ kind }: DeliveryResult, invocation: DeliveryEnd['invocation']): boolean {
  return invocation !== null || kind === 'dead';
}

function isDone({ kind }: DeliveryResult): boolean {
  return kind !== 'retry';
}
