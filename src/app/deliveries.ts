/** Everything that delivers events: one engine, and what feeds it. */
import type { Source } from '../backend/backend.ts';
import type { Config } from '../config/options.ts';
import { serviceVersion } from '../config/version.ts';
import { createDeliverer } from '../events/delivery.ts';
import { runCleanups } from '../events/cleanups.ts';
import type { EventMeter } from '../events/event-meter.ts';
import { createEngine, type Engine } from '../events/engine.ts';
import { deliverCapturedEvents } from '../events/event-triggers.ts';
import { deliverScheduledEvents } from '../events/scheduled.ts';
import type { Environment } from '../metadata/environment-template.ts';
import type { Counted } from '../observability/metrics/counting.ts';
import type { Observer } from '../observability/observation.ts';
import type { Tracer } from '../observability/tracing/tracer.ts';
import type { OutboundClient } from '../http-client/client.ts';
import type { Snapshots } from '../state/state.ts';
import { generateCronEvents } from '../metadata-store/cron-events.ts';
import { createScheduledEventStore } from '../metadata-store/scheduled-event-store.ts';

export interface DeliveriesOptions {
  readonly config: Config;
  readonly state: Snapshots;
  /** The metadata database. */
  readonly database: Source;
  readonly outbound: OutboundClient;
  readonly environment: Environment;
  readonly observe: Observer;
  readonly instanceId: string;
  readonly tracing?: { current(): Tracer | null };
  readonly meter: Counted<EventMeter>;
}

export interface Deliveries {
  /** This instance has written something in a source. */
  written(source: string): void;
  /** There is a new event of a schedule. */
  wake(): void;
  /** Deliveries that are under way, and how many may be. */
  workers(): { readonly busy: number; readonly most: number };
  /** Waits so many ms for deliveries that are under way; what is left is handed back to other instances. */
  stop(graceMs: number): Promise<void>;
}

const DEFAULT_BATCH = 100;

const NONE: Deliveries = {
  written: () => undefined,
  wake: () => undefined,
  workers: () => ({ busy: 0, most: 0 }),
  stop: async () => undefined,
};

export function startDeliveries({
  config,
  state,
  database,
  outbound,
  environment,
  observe,
  instanceId,
  meter,
  tracing,
}: DeliveriesOptions): Deliveries {
  if (config.disableEventing) return NONE;
  const engine: Engine = createEngine({
    holder: instanceId,
    slots: config.eventsHttpPoolSize,
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
