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
  const { state, environment, observe, logger } = options;
  const where: TargetOptions = { ...options, instance: randomUUID() };
  const settings = exportSettings(environment);
  const spans = new ExportCounts();
  const lines = new ExportCounts();
  let tracer: Tracer | null = null;

  const exporters: Readonly<Record<DataType, (target: ExportTarget, resource: TelemetryResource) => Export>> = {
    traces(target, resource) {
      const { sampling } = settings;
      const { maxBatch } = target;
      const size = maxBatch === null ? settings.spans : { ...settings.spans, maxBatch, maxQueue: QUEUED_BATCHES * maxBatch };
      const send = sender(target, 'spans', observe);
      const made = new Tracer({
        ...{ ...size, maxQueueBytes: QUEUE_BYTES, sampling, showsSql: options.showsSql, counts: spans },
        send: (items) => send(encodeSpans(items, resource)),
      });
      tracer = made;
      report('tracing', target, { ratio: sampling.ratio });
      return { stop: (limit) => made.flush(limit) };
    },
    metrics(target, resource) {
      const interval = settings.metricInterval;
      options.onMetrics(true);
      report('metrics_export', target, { interval });
      return new MetricExport({
        ...{ interval, resource, collect: options.collect, send: sender(target, 'metrics', observe) },
        onFault: (error) => observe({ kind: 'unexpected', message: 'the metrics cannot be collected', error }),
      });
    },
    logs(target, resource) {
      const send = sender(target, 'log lines', observe);
      const queue = new BatchQueue<LogLine>({
        ...{ ...settings.lines, maxQueueBytes: QUEUE_BYTES, counts: lines },
        send: (items) => send(encodeLines(items, resource)),
      });
      logger.tap?.(queue);
      report('log_export', target, {});
      return { stop: (limit) => queue.flush(limit) };
    },
  };
  // Without the path, which may contain a token.
  const report = (message: string, { url }: ExportTarget, more: Readonly<Record<string, unknown>>): void =>
    observe({ kind: 'startup', message, info: { collector: new URL(url).origin, ...more } });
  const disable: Readonly<Record<DataType, () => void>> = {
    traces() {
      tracer = null;
    },
    metrics: () => options.onMetrics(false),
    logs: () => logger.tap?.(null),
  };
  const targetOf = (type: DataType, openTelemetry: OpenTelemetry | null): ExportTarget | null => {
    if (isDisabled(environment)) return null;
    try {
      const target = metadataTarget(type, openTelemetry, where);
      if (target !== null) return target;
    } catch (error) {
      const why = error instanceof Error ? error.message : 'the configuration is invalid';
      observe({ kind: 'startup', message: 'telemetry', info: { warning: `${type} are not exported: ${why}` } });
    }
    return fromEnvironment[type];
  };

  const fromEnvironment: Readonly<Record<DataType, ExportTarget | null>> = {
    traces: environmentTarget('traces', where),
    metrics: environmentTarget('metrics', where),
    logs: environmentTarget('logs', where),
  };
  const running = new Map<DataType, Export>();
  const stopAll = async (): Promise<void> => {
    const before = [...running.values()];
    running.clear();
    await Promise.all(before.map((each) => each.stop(LAST_SEND_MS)));
  };
  let last: OpenTelemetry | null | undefined;
  const follow = (openTelemetry: OpenTelemetry | null): void => {
    if (openTelemetry === last) return;
    last = openTelemetry;
    // Runs in the background: new data goes to the new targets.
    void stopAll();
    for (const type of DATA_TYPES) {
      const target = targetOf(type, openTelemetry);
      if (target === null) disable[type]();
      else {
        const resource = { attributes: target.attributes, scope: { name: 'svc-graphql', version: serviceVersion() } };
        running.set(type, exporters[type](target, resource));
      }
    }
  };
  follow(state.current().metadata.openTelemetry);
  const unfollow = state.onSnapshot((shown) => follow(shown.metadata.openTelemetry));
  return {
    tracing: { current: () => tracer },
    spans,
    lines,
    async stop() {
      unfollow();
      await stopAll();
      for (const type of DATA_TYPES) disable[type]();
    },
  };
}
