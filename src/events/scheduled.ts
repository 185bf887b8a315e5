/** Delivers events of cron triggers and one-off events, and generates the next events of cron triggers. */
import type { DeliveryOutcome } from '../backend/event-store.ts';
import { withRules } from '../metadata/decode-rules.ts';
import { type CronTrigger, scheduledRetryCodec, type ScheduledRetryPolicy } from '../metadata/cron-trigger.ts';
import { type EnvironmentVariables, headersCodec } from '../metadata/environment-template.ts';
import { signatureCodec } from '../metadata/signature.ts';
import type { Counted } from '../observability/metrics/counting.ts';
import type { Observer } from '../observability/observation.ts';
import { objectId } from '../schema-cache/object-id.ts';
import type { Snapshot } from '../state/snapshot.ts';
import type { Snapshots } from '../state/state.ts';
import {
  type CronEvent,
  ONE_OFF_QUEUE,
  type OneOffEvent,
  type ScheduledEvent,
  type ScheduledEventStore,
} from '../metadata-store/scheduled-event-store.ts';
import type { PromptCancellation } from '../util/cancellation.ts';
import { printJson } from '../util/json.ts';
import { repeatedly } from '../util/repeatedly.ts';
import { ROOT } from '../util/path.ts';
import { webhookCache, type Webhook } from '../webhooks/webhook.ts';
import { type Deliverer, openDestination, outcomeSize, retryDelay, withoutTrigger } from './delivery.ts';
import type { EventMeter } from './event-meter.ts';
import type { Engine, QueueHandle } from './engine.ts';
import { createFetchStatistics } from './fetch-statistics.ts';

export interface ScheduledOptions {
  readonly engine: Engine;
  readonly deliver: Deliverer;
  readonly store: ScheduledEventStore;
  readonly state: Snapshots;
  readonly environment: EnvironmentVariables;
  readonly observe: Observer;
  readonly meter?: Counted<EventMeter>;
  /** Generates events for triggers with few planned ones. Returns their number. */
  readonly generate: (triggers: readonly CronTrigger[]) => Promise<number>;
}

export interface ScheduledDeliveries {
  /** Called when there is a new event, which may be due. */
  wake(): void;
  /** Stops generating events; the engine stops deliveries. */
  stop(): Promise<void>;
}

/** Schedules have a resolution of minutes, retries of seconds. */
const POLL_MS = 1000;
const GENERATE_MS = 60_000;
const CRON = 'cron';
const ONE_OFF = 'one-off';

export function deliverScheduledEvents(options: ScheduledOptions): ScheduledDeliveries {
  return new Deliveries(options);
}

class Deliveries implements ScheduledDeliveries {
  readonly #options: ScheduledOptions;
  readonly #statistics: ReturnType<typeof createFetchStatistics>;
  readonly #webhookOf: (trigger: CronTrigger) => Webhook;
  readonly #queue: QueueHandle;
  readonly #generating: ReturnType<typeof repeatedly>;
  readonly #stopListening: () => void;

  constructor(options: ScheduledOptions) {
    this.#options = options;
    const { state, observe, environment } = options;
    this.#statistics = createFetchStatistics((events) =>
      observe({
        kind: 'deliveries-fetched',
        of: 'scheduled-trigger',
        detail: { num_cron_events_fetched: events.get(CRON) ?? 0, num_one_off_scheduled_events_fetched: events.get(ONE_OFF) ?? 0 },
      }),
    );
    this.#webhookOf = webhookCache((trigger: CronTrigger) =>
      openDestination({ ...trigger, url: { kind: 'template', text: trigger.webhook } }, environment),
    );
    this.#queue = this.#addQueue();
    this.#generating = repeatedly(
      () => this.#generate(),
      GENERATE_MS,
      (error) => observe({ kind: 'unexpected', message: 'cannot generate events of cron triggers', error }),
    );
    this.#stopListening = state.onSnapshot(() => this.wake());
  }

  wake(): void {
    this.#queue.wake();
  }

  async stop(): Promise<void> {
    this.#stopListening();
    await this.#generating.stop();
    this.#statistics.stop();
  }

  #triggers(): ReadonlyMap<string, CronTrigger> {
    return usableTriggers(this.#options.state.current());
  }

  #addQueue(): QueueHandle {
    const { engine, store, meter } = this.#options;
    return engine.add<ScheduledEvent, DeliveryOutcome>({
      name: 'scheduled events',
      store: () => store,
      triggerQueues: () => [{ name: ONE_OFF_QUEUE }, ...[...this.#triggers().keys()].map((name) => ({ name }))],
      process: async (event, signal) => {
        const outcome = await this.#attempt(event, signal);
        meter?.current()?.scheduled(event, outcome);
        return outcome;
      },
      pollInterval: POLL_MS,
      retryDelay,
      sizeOf: outcomeSize,
      onFetched: (events) => this.#count(events),
    });
  }

  #count(events: readonly ScheduledEvent[]): void {
    const cron = events.filter(({ kind }) => kind === CRON).length;
    if (cron > 0) this.#statistics.count(CRON, cron);
    if (cron < events.length) this.#statistics.count(ONE_OFF, events.length - cron);
  }

  async #attempt(event: ScheduledEvent, signal: PromptCancellation): Promise<DeliveryOutcome> {
    const { id } = event;
    if (event.kind === 'one-off') return { id, ...(await deliverOneOff(event, this.#options, signal)) };
    const trigger = this.#triggers().get(event.queue);
    if (trigger === undefined) {
      this.#options.observe({
        kind: 'delivery-trouble',
        queue: 'scheduled events',
        message: `an event of the cron trigger ${event.queue} is delayed: the trigger no longer exists`,
      });
      return withoutTrigger(id);
    }
    if (isTooLate(event, trigger.retryConf)) return { id, result: { kind: 'dead' }, invocation: null };
    const end = await this.#options.deliver(
      {
        of: 'scheduled-trigger',
        eventId: id,
        eventName: trigger.name,
        recordVersion: '1',
        webhook: () => this.#webhookOf(trigger),
        retry: trigger.retryConf,
        tries: event.tries,
        body: cronBody(event, trigger),
        sessionVariables: null,
        timedOut: `Cron Scheduled event "${id}" of cron trigger "${trigger.name}" timed out while processing.`,
      },
      signal,
    );
    return { id, ...end };
  }

  async #generate(): Promise<void> {
    const { generate, observe } = this.#options;
    const all = [...this.#triggers().values()];
    if (all.length === 0) return;
    const events = await generate(all);
    if (events > 0) observe({ kind: 'cron-events-made', triggers: all.length, events });
  }
}

const cache = new WeakMap<Snapshot, ReadonlyMap<string, CronTrigger>>();

/** Returns the consistent triggers: events of the others wait. */
function usableTriggers(snapshot: Snapshot): ReadonlyMap<string, CronTrigger> {
  let triggers = cache.get(snapshot);
  if (triggers === undefined) {
    const broken = new Set(snapshot.cache.inconsistencies.map((each) => each.objectId));
    triggers = new Map([...snapshot.metadata.cronTriggers].filter(([name]) => !broken.has(objectId.cronTrigger(name))));
    cache.set(snapshot, triggers);
  }
  return triggers;
}

/** Returns true if the event is too late for its first attempt; retries are not limited. */
function isTooLate({ delay, tries }: ScheduledEvent, { toleranceSeconds }: ScheduledRetryPolicy): boolean {
  return tries === 0 && delay > toleranceSeconds;
}

function cronBody({ id, scheduledTime }: CronEvent, { name, payload = null, comment }: CronTrigger): string {
  return printJson({ id, name, scheduled_time: scheduledTime, payload, ...(comment === undefined ? {} : { comment }) });
}

async function deliverOneOff(
  event: OneOffEvent,
  { deliver, environment }: ScheduledOptions,
  signal: PromptCancellation,
): Promise<Omit<DeliveryOutcome, 'id'>> {
  const { id, scheduledTime, createdAt, payload, comment, tries } = event;
  // Decoded again, since the service that accepted it may have had other limits.
  const retry = scheduledRetryCodec.decode(event.retryConf ?? {}, withRules(ROOT, { onClamped: () => undefined }));
  if (isTooLate(event, retry)) return { result: { kind: 'dead' }, invocation: null };
  const head = JSON.stringify({ id, scheduled_time: scheduledTime, created_at: createdAt }).slice(0, -1);
  return deliver(
    {
      of: 'scheduled-trigger',
      eventId: id,
      eventName: null,
      recordVersion: '1',
      webhook: () => openOneOff(event, environment),
      retry,
      tries,
      body: `${head},"payload":${payload ?? 'null'}${comment === null ? '' : `,"comment":${JSON.stringify(comment)}`}}`,
      sessionVariables: null,
      timedOut: `One-off Scheduled event "${id}" timed out while processing.`,
    },
    signal,
  );
}

/** @throws SvcError for missing environment variables */
function openOneOff({ webhook, headers, signature }: OneOffEvent, environment: EnvironmentVariables): Webhook {
  const definition = {
    url: { kind: 'template', text: typeof webhook === 'string' ? webhook : '' } as const,
    headers: headersCodec.decode(headers ?? [], ROOT),
    ...(signature === null ? {} : { signature: signatureCodec.decode(signature, ROOT) }),
  };
  return openDestination(definition, environment);
}
