/** Delivery of events: one engine, and the queues of event triggers, cron triggers and one-off events that feed it. */
import type { Source } from '../backend/backend.ts';
import type { Config } from '../config/options.ts';
import { serviceVersion } from '../config/version.ts';
import { createDeliverer } from '../events/delivery.ts';
import { runCleanups } from '../events/cleanups.ts';
import type { EventMeter } from '../events/event-meter.ts';
import { createEngine, type Engine } from '../events/engine.ts';
import { deliverCapturedEvents } from '../events/event-triggers.ts';
import { deliverScheduledEvents } from '../events/scheduled.ts';
import type { EnvironmentVariables } from '../metadata/environment-template.ts';
import type { Counted } from '../observability/metrics/counting.ts';
import type { Observer } from '../observability/observation.ts';
import type { Tracer } from '../observability/tracing/tracer.ts';
import type { OutboundClient } from '../http-client/client.ts';
import type { Snapshots } from '../state/state.ts';
import { generateCronEvents } from '../metadata-store/cron-events.ts';
import { createScheduledEventStore } from '../metadata-store/scheduled-event-store.ts';

type DeliveriesConfig = Pick<
  Config,
  'disableEventing' | 'eventsHttpPoolSize' | 'eventsFetchBatchSize' | 'eventsFetchInterval' | 'enableTriggersErrorLogLevel'
>;

export interface DeliveriesParts {
  readonly state: Snapshots;
  /** Metadata database. */
  readonly database: Source;
  readonly outbound: OutboundClient;
  readonly environment: EnvironmentVariables;
  readonly observe: Observer;
  readonly instanceId: string;
  readonly tracing?: { current(): Tracer | null };
  readonly meter: Counted<EventMeter>;
}

export interface Deliveries {
  /** Called after this instance has written to a source: looks for captured events at once. */
  written(source: string): void;
  /** Called after a scheduled event was created: looks for due events at once. */
  wake(): void;
  /** Running deliveries, and their maximum. */
  workers(): { readonly busy: number; readonly total: number };
  /** Waits up to `graceMs` for running deliveries, then releases the rest to other instances. */
  stop(graceMs: number): Promise<void>;
}

const DEFAULT_BATCH = 100;

const DISABLED: Deliveries = {
  written: () => undefined,
  wake: () => undefined,
  workers: () => ({ busy: 0, total: 0 }),
  stop: async () => undefined,
};

export function startDeliveries(config: DeliveriesConfig, parts: DeliveriesParts): Deliveries {
  const { state, database, outbound, environment, observe, instanceId, meter, tracing } = parts;
  if (config.disableEventing) return DISABLED;
  const engine: Engine = createEngine({
    holder: instanceId,
    workers: config.eventsHttpPoolSize,
    batchSize: config.eventsFetchBatchSize || DEFAULT_BATCH,
    observe,
  });
  const deliver = createDeliverer({
    outbound,
    observe,
    version: serviceVersion(),
    failuresAreErrors: config.enableTriggersErrorLogLevel,
  });
  const scheduled = deliverScheduledEvents({
    engine,
    deliver,
    store: createScheduledEventStore(database),
    state,
    environment,
    observe,
    meter,
    generate: (triggers) => generateCronEvents(database, triggers),
  });
  const delivers = config.eventsFetchInterval > 0 && config.eventsFetchBatchSize > 0;
  const captured = delivers
    ? deliverCapturedEvents({ engine, deliver, state, environment, observe, meter, tracing, pollInterval: config.eventsFetchInterval })
    : undefined;
  const cleanups = runCleanups({ state, observe });
  return {
    written: (source) => captured?.written(source),
    wake: () => scheduled.wake(),
    workers: () => engine.workers(),
    async stop(graceMs) {
      captured?.stop();
      await Promise.all([scheduled.stop(), cleanups.stop(), engine.stop(graceMs)]);
    },
  };
}
