/** Delivers the events of event triggers, with a queue for each source that has any. */
import type { CapturedEvent, CapturedEventStore, DeliveryOutcome } from '../backend/event-store.ts';
import type { EnvironmentVariables } from '../metadata/environment-template.ts';
import { DEFAULT_EVENT_TIMEOUT_SEC, type EventTrigger } from '../metadata/event-trigger.ts';
import type { RetryPolicy } from '../metadata/retry-policy.ts';
import type { Counted } from '../observability/metrics/counting.ts';
import type { Observer } from '../observability/observation.ts';
import type { Span } from '../observability/tracing/span.ts';
import type { Tracer } from '../observability/tracing/tracer.ts';
import type { EventTriggerInfo } from '../schema-cache/schema-cache.ts';
import type { Snapshots } from '../state/state.ts';
import type { PromptCancellation } from '../util/cancellation.ts';
import { isJsonObject, parseJson } from '../util/json.ts';
import { storedTrace, type TraceContext } from '../webhooks/trace-context.ts';
import { webhookCache, storedSessionVariables, type Webhook } from '../webhooks/webhook.ts';
import { type Deliverer, openDestination, outcomeSize, retryDelay, withoutTrigger } from './delivery.ts';
import type { EventMeter } from './event-meter.ts';
import type { Engine, QueueHandle } from './engine.ts';
import { createFetchStatistics } from './fetch-statistics.ts';

export interface EventTriggerOptions {
  readonly engine: Engine;
  readonly deliver: Deliverer;
  readonly state: Snapshots;
  readonly environment: EnvironmentVariables;
  readonly observe: Observer;
  readonly meter?: Counted<EventMeter>;
  readonly tracing?: { current(): Tracer | null } | undefined;
  /** Interval for polling a source without events, in ms. */
  readonly pollInterval: number;
}

export interface EventTriggerDeliveries {
  /** Called after this instance has written to a source. */
  written(source: string): void;
  stop(): void;
}

/** Time for deliveries of a removed source, in ms; its connections stay open a little longer. */
const REMOVE_MS = 3000;

export function deliverCapturedEvents(options: EventTriggerOptions): EventTriggerDeliveries {
  return new Deliveries(options);
}

class Deliveries implements EventTriggerDeliveries {
  readonly #options: EventTriggerOptions;
  readonly #queues = new Map<string, QueueHandle>();
  readonly #statistics: ReturnType<typeof createFetchStatistics>;
  readonly #webhookOf: (trigger: EventTrigger) => Webhook;
  readonly #stopListening: () => void;

  constructor(options: EventTriggerOptions) {
    this.#options = options;
    const { state, observe, environment } = options;
    this.#statistics = createFetchStatistics((events, fetches) =>
      observe({
        kind: 'deliveries-fetched',
        of: 'event-trigger',
        detail: { num_events_fetched: Object.fromEntries(events), num_fetches: fetches },
      }),
    );
    this.#webhookOf = webhookCache(({ webhook: url, headers, requestTransform, responseTransform, signature }: EventTrigger) =>
      openDestination({ url, headers, requestTransform, responseTransform, signature }, environment),
    );
    this.#update();
    this.#stopListening = state.onSnapshot(() => this.#update());
  }

  written(source: string): void {
    // A database that notifies of new events also notifies of those that this instance has written.
    if (this.#storeOf(source)?.listen === undefined) this.#queues.get(source)?.wake();
  }

  stop(): void {
    this.#stopListening();
    this.#statistics.stop();
  }

  /** Adds and removes queues as the metadata changes. */
  #update(): void {
    const { state, observe } = this.#options;
    const sources = new Set(
      [...state.current().cache.sources].filter(([, { eventTriggers }]) => eventTriggers.size > 0).map(([name]) => name),
    );
    for (const [name, queue] of this.#queues) {
      if (sources.has(name)) continue;
      this.#queues.delete(name);
      queue
        .remove(REMOVE_MS)
        .catch((error: unknown) => observe({ kind: 'unexpected', message: `cannot release the events of the source ${name}`, error }));
    }
    for (const name of sources) {
      const queue = this.#queues.get(name);
      if (queue === undefined) this.#queues.set(name, this.#add(name));
      else queue.wake();
    }
  }

  #add(source: string): QueueHandle {
    const { engine, pollInterval, meter } = this.#options;
    return engine.add<CapturedEvent, DeliveryOutcome>({
      name: `the source ${source}`,
      pollInterval,
      retryDelay,
      sizeOf: outcomeSize,
      store: () => this.#storeOf(source),
      triggerQueues: () =>
        [...this.#triggersOf(source).values()].map(({ definition: { name, maxConcurrency, ordering } }) => ({
          name,
          ...(maxConcurrency === undefined ? {} : { overall: maxConcurrency }),
          isOrdered: ordering !== undefined,
        })),
      process: (event, signal) => this.#process(source, event, signal),
      onFetched: (events, seconds) => {
        this.#statistics.count(source, events.length);
        meter?.current()?.fetched(source, events, seconds);
      },
      onQuery: (seconds, isAnswered) => meter?.current()?.queried(source, seconds, isAnswered),
    });
  }

  async #process(source: string, event: CapturedEvent, signal: PromptCancellation): Promise<DeliveryOutcome> {
    const { observe, meter, deliver, tracing } = this.#options;
    const info = this.#triggersOf(source).get(event.queue);
    if (info === undefined) {
      observe({
        kind: 'delivery-trouble',
        queue: `the source ${source}`,
        message: `an event of the trigger ${event.queue} is delayed: the trigger no longer exists`,
      });
      return withoutTrigger(event.id);
    }
    const metered = meter?.current()?.begin(event, event.queue, source);
    const end = await deliverOne(event, info.definition, deliver, () => this.#webhookOf(info.definition), signal, {
      onCalled: metered?.onCalled,
      tracer: tracing?.current() ?? null,
    });
    metered?.onEnd(end);
    return { id: event.id, ...end };
  }

  #triggersOf(source: string): ReadonlyMap<string, EventTriggerInfo> {
    return this.#options.state.current().cache.sources.get(source)?.eventTriggers ?? NO_TRIGGERS;
  }

  #storeOf(source: string): CapturedEventStore | null {
    return this.#options.state.current().connections.get(source)?.captures?.events ?? null;
  }
}

const NO_TRIGGERS: ReadonlyMap<string, EventTriggerInfo> = new Map();

function deliverOne(
  event: CapturedEvent,
  trigger: EventTrigger,
  deliver: Deliverer,
  webhook: () => Webhook,
  signal: PromptCancellation,
  { onCalled, tracer }: { readonly onCalled: ((seconds: number) => void) | undefined; readonly tracer: Tracer | null },
): ReturnType<Deliverer> {
  const { name } = trigger;
  const context = contextOf(event.payload, trigger);
  const retry = retryOf(trigger);
  const span = tracer === null ? undefined : processSpan(tracer, event, context.trace);
  const delivery = deliver(
    {
      of: 'event-trigger',
      eventId: event.id,
      eventName: name,
      recordVersion: '2',
      webhook,
      retry,
      tries: event.tries,
      body: bodyOf(event, name, retry),
      sessionVariables: context.sessionVariables,
      trace: context.trace,
      onCalled,
      span,
      timedOut: `Event Trigger ${name} timed out while processing.`,
    },
    signal,
  );
  if (span === undefined) return delivery;
  return delivery
    .then((end) => {
      if (end.result.kind !== 'delivered') span.fail(end.result.kind);
      return end;
    })
    .finally(() => span.end());
}

/** Span of an attempt, in the trace of the request that made the change. */
function processSpan(tracer: Tracer, { id, queue, tries }: CapturedEvent, trace: TraceContext | undefined): Span {
  const incoming = trace === undefined ? null : { ...trace, traceId: trace.traceId.padStart(32, '0'), state: null };
  const span = tracer.begin(`process ${queue}`, 'consumer', incoming);
  span.set('messaging.system', 'svc').set('messaging.operation.name', 'process').set('messaging.operation.type', 'process');
  return span.set('messaging.destination.name', queue).set('messaging.message.id', id).set('svc.tries', tries);
}

function retryOf({ retryConf: { numRetries, intervalSec, timeoutSec = DEFAULT_EVENT_TIMEOUT_SEC } }: EventTrigger): RetryPolicy {
  return { numRetries, intervalSeconds: intervalSec, timeoutSeconds: timeoutSec };
}

/** The payload is inserted as the database's text, so that numbers keep their digits. */
function bodyOf({ id, createdAt, schema, table, payload, tries }: CapturedEvent, name: string, { numRetries }: RetryPolicy): string {
  const head = { id, created_at: createdAt, trigger: { name }, table: { schema, name: table } };
  const delivery = { current_retry: tries, max_retries: numRetries };
  return `${JSON.stringify(head).slice(0, -1)},"event":${payload},"delivery_info":${JSON.stringify(delivery)}}`;
}

interface EventContext {
  readonly sessionVariables: ReadonlyMap<string, string> | null;
  readonly trace: TraceContext | undefined;
}

const NO_CONTEXT: EventContext = { sessionVariables: null, trace: undefined };

/** Matches a trace that is not null, as the database prints it. */
const TRACED = /"trace_context": ?\{/;

/** Parses the payload only if needed: it may be large. */
function contextOf(payload: string, { requestTransform, responseTransform }: EventTrigger): EventContext {
  if (requestTransform === undefined && responseTransform === undefined && !TRACED.test(payload)) return NO_CONTEXT;
  const json = parseJson(payload);
  if (!isJsonObject(json)) return NO_CONTEXT;
  return { sessionVariables: storedSessionVariables(json['session_variables']), trace: storedTrace(json['trace_context']) };
}
