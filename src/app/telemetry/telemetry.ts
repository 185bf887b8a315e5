/** Exports traces, metrics and log lines to the OpenTelemetry collectors of the metadata or the environment. */
import { randomUUID } from 'node:crypto';
import { serviceVersion } from '../../config/version.ts';
import { DATA_TYPES, type DataType, type OpenTelemetry } from '../../metadata/opentelemetry.ts';
import type { Logger } from '../../observability/logger.ts';
import type { Observer } from '../../observability/observation.ts';
import { BatchQueue, ExportCounts } from '../../observability/otlp/batch-queue.ts';
import { encodeLines, type LogLine } from '../../observability/otlp/log-lines.ts';
import { MetricExport } from '../../observability/otlp/metric-export.ts';
import type { ExportedMetric } from '../../observability/otlp/metrics.ts';
import { encodeSpans } from '../../observability/otlp/spans.ts';
import type { TelemetryResource } from '../../observability/otlp/wire.ts';
import { Tracer } from '../../observability/tracing/tracer.ts';
import type { Snapshots } from '../../state/state.ts';
import { sender } from './sender.ts';
import { environmentTarget, exportSettings, type ExportTarget, isDisabled, metadataTarget, type TargetOptions } from './targets.ts';

export interface Telemetry {
  readonly tracing: {
    /** `null` while tracing is off. */
    current(): Tracer | null;
  };
  readonly spans: ExportCounts;
  readonly lines: ExportCounts;
  /** Sends what is still queued. */
  stop(): Promise<void>;
}

export interface TelemetryOptions extends Omit<TargetOptions, 'instance'> {
  readonly state: Snapshots;
  /** Adds the SQL to spans of statements. */
  readonly showsSql: boolean;
  readonly observe: Observer;
  readonly logger: Pick<Logger, 'tap'>;
  readonly collect: () => Promise<readonly ExportedMetric[]>;
  /** Called when the export of metrics starts and stops. */
  readonly onMetrics: (areSent: boolean) => void;
}

/** Maximum size of the queue of spans, and of that of log lines, in bytes. */
const QUEUE_BYTES = 16 * 1024 * 1024;
/** Maximum number of queued batches, for the batch size of the metadata. */
const QUEUED_BATCHES = 4;
const LAST_SEND_MS = 5000;

/** Running export of one data type. */
interface Export {
  /** Sends what is still queued, for at most `limitMs`. */
  stop(limitMs: number): Promise<void>;
}

/** @throws Error for an invalid environment variable */
export function startTelemetry(options: TelemetryOptions): Telemetry {
  return new Exports(options);
}

class Exports implements Telemetry {
  readonly spans = new ExportCounts();
  readonly lines = new ExportCounts();
  readonly tracing = { current: (): Tracer | null => this.#tracer };
  readonly #options: TelemetryOptions;
  readonly #where: TargetOptions;
  readonly #settings: ReturnType<typeof exportSettings>;
  readonly #fromEnvironment: Readonly<Record<DataType, ExportTarget | null>>;
  readonly #running = new Map<DataType, Export>();
  readonly #unfollow: () => void;
  #tracer: Tracer | null = null;
  /** Settings of the metadata that are in effect. */
  #last: OpenTelemetry | null | undefined;

  readonly #start: Readonly<Record<DataType, (target: ExportTarget, resource: TelemetryResource) => Export>> = {
    traces: (target, resource) => this.#startTraces(target, resource),
    metrics: (target, resource) => this.#startMetrics(target, resource),
    logs: (target, resource) => this.#startLogs(target, resource),
  };

  readonly #disable: Readonly<Record<DataType, () => void>> = {
    traces: () => {
      this.#tracer = null;
    },
    metrics: () => this.#options.onMetrics(false),
    logs: () => this.#options.logger.tap?.(null),
  };

  constructor(options: TelemetryOptions) {
    const { state, environment } = options;
    this.#options = options;
    const where: TargetOptions = { ...options, instance: randomUUID() };
    this.#where = where;
    this.#settings = exportSettings(environment);
    this.#fromEnvironment = {
      traces: environmentTarget('traces', where),
      metrics: environmentTarget('metrics', where),
      logs: environmentTarget('logs', where),
    };
    this.#follow(state.current().metadata.openTelemetry);
    this.#unfollow = state.onSnapshot((shown) => this.#follow(shown.metadata.openTelemetry));
  }

  async stop(): Promise<void> {
    this.#unfollow();
    await this.#stopAll();
    for (const type of DATA_TYPES) this.#disable[type]();
  }

  #follow(openTelemetry: OpenTelemetry | null): void {
    if (openTelemetry === this.#last) return;
    this.#last = openTelemetry;
    // Runs in the background: new data goes to the new targets.
    void this.#stopAll();
    for (const type of DATA_TYPES) {
      const target = this.#targetOf(type, openTelemetry);
      if (target === null) this.#disable[type]();
      else {
        const resource = { attributes: target.attributes, scope: { name: 'svc-graphql', version: serviceVersion() } };
        this.#running.set(type, this.#start[type](target, resource));
      }
    }
  }

  async #stopAll(): Promise<void> {
    const before = [...this.#running.values()];
    this.#running.clear();
    await Promise.all(before.map((each) => each.stop(LAST_SEND_MS)));
  }

  #targetOf(type: DataType, openTelemetry: OpenTelemetry | null): ExportTarget | null {
    if (isDisabled(this.#options.environment)) return null;
    try {
      const target = metadataTarget(type, openTelemetry, this.#where);
      if (target !== null) return target;
    } catch (error) {
      const why = error instanceof Error ? error.message : 'the configuration is invalid';
      this.#options.observe({ kind: 'startup', message: 'telemetry', info: { warning: `${type} are not exported: ${why}` } });
    }
    return this.#fromEnvironment[type];
  }

  #startTraces(target: ExportTarget, resource: TelemetryResource): Export {
    const { observe, showsSql } = this.#options;
    const { sampling, spans } = this.#settings;
    const { maxBatch } = target;
    const size = maxBatch === null ? spans : { ...spans, maxBatch, maxQueue: QUEUED_BATCHES * maxBatch };
    const send = sender(target, 'spans', observe);
    const tracer = new Tracer({
      ...{ ...size, maxQueueBytes: QUEUE_BYTES, sampling, showsSql, counts: this.spans },
      send: (items) => send(encodeSpans(items, resource)),
    });
    this.#tracer = tracer;
    this.#report('tracing', target, { ratio: sampling.ratio });
    return { stop: (limit) => tracer.flush(limit) };
  }

  #startMetrics(target: ExportTarget, resource: TelemetryResource): Export {
    const { observe, collect, onMetrics } = this.#options;
    const interval = this.#settings.metricInterval;
    onMetrics(true);
    this.#report('metrics_export', target, { interval });
    return new MetricExport({
      ...{ interval, resource, collect, send: sender(target, 'metrics', observe) },
      onFault: (error) => observe({ kind: 'unexpected', message: 'the metrics cannot be collected', error }),
    });
  }

  #startLogs(target: ExportTarget, resource: TelemetryResource): Export {
    const { observe, logger } = this.#options;
    const send = sender(target, 'log lines', observe);
    const queue = new BatchQueue<LogLine>({
      ...{ ...this.#settings.lines, maxQueueBytes: QUEUE_BYTES, counts: this.lines },
      send: (items) => send(encodeLines(items, resource)),
    });
    logger.tap?.(queue);
    this.#report('log_export', target, {});
    return { stop: (limit) => queue.flush(limit) };
  }

  /** Logs the collector without the path, which may contain a token. */
  #report(message: string, { url }: ExportTarget, more: Readonly<Record<string, unknown>>): void {
    this.#options.observe({ kind: 'startup', message, info: { collector: new URL(url).origin, ...more } });
  }
}
