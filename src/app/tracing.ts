/** Where traces go: what the metadata say while it is enabled, else what the environment says, else nowhere. */
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { serviceVersion } from '../config/version.ts';
import { configuredHeaderValue, type Environment, fillTemplate } from '../metadata/environment-template.ts';
import type { OpenTelemetry } from '../metadata/opentelemetry.ts';
import { DEFAULT_BATCH_SIZE, endpointComplaint } from '../metadata/opentelemetry.ts';
import type { Observer } from '../observability/observation.ts';
import { encodeSpans } from '../observability/tracing/otlp.ts';
import type { Attribute } from '../observability/tracing/span.ts';
import { type Sampling, type SendSpans, SpanCounts, Tracer } from '../observability/tracing/tracer.ts';
import type { OutboundClient } from '../outbound/client.ts';
import { safeUrl } from '../outbound/safe-url.ts';
import type { Snapshots } from '../state/state.ts';

export interface Tracing {
  /** null: nothing is traced. */
  current(): Tracer | null;
  readonly counts: SpanCounts;
  /** Sends what is left. */
  stop(): Promise<void>;
}

export interface TracingOptions {
  readonly state: Snapshots;
  readonly environment: Environment;
  /** For endpoints of the metadata. */
  readonly outbound: OutboundClient;
  /** For those of the environment, which may be private. */
  readonly ownOutbound: OutboundClient;
  readonly showsSql: boolean;
  readonly observe: Observer;
}

/** Where spans go and how. */
interface Target {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly attributes: ReadonlyMap<string, Attribute>;
  readonly outbound: OutboundClient;
  readonly maxBatch: number;
  readonly maxQueue: number;
  readonly delay: number;
  readonly timeout: number;
  readonly compresses: boolean;
}

const DEFAULT_DELAY_MS = 5000;
const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_QUEUE = 2048;
/** Of the spans that wait. */
const QUEUE_BYTES = 16 * 1024 * 1024;
/** Batches of the metadata that wait. */
const QUEUED_BATCHES = 4;
const LAST_SEND_MS = 5000;
const ATTEMPTS = 3;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5000;
const AGAIN: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** @throws Error for variables of the environment that mean nothing */
export function startTracing(options: TracingOptions): Tracing {
  const { state, environment, observe } = options;
  const counts = new SpanCounts();
  const instance = randomUUID();
  const sampling = samplingOf(environment);
  const fromEnvironment = environmentTarget(options, instance);
  let tracer: Tracer | null = null;
  let last: OpenTelemetry | null | undefined;
  const follow = (openTelemetry: OpenTelemetry | null): void => {
    if (openTelemetry === last) return;
    last = openTelemetry;
    const before = tracer;
    const target = isDisabled(environment) ? null : (metadataTarget(openTelemetry, options, instance) ?? fromEnvironment);
    tracer = target === null ? null : tracerFor(target, { ...options, counts, sampling });
    void before?.flush(LAST_SEND_MS);
    // The path may be what authorizes whoever sends.
    if (target !== null)
      observe({ kind: 'startup', message: 'tracing', info: { collector: new URL(target.url).origin, ratio: sampling.ratio } });
  };
  follow(state.current().metadata.openTelemetry);
  const forget = state.onSnapshot((shown) => follow(shown.metadata.openTelemetry));
  return {
    current: () => tracer,
    counts,
    async stop() {
      forget();
      await tracer?.flush(LAST_SEND_MS);
      tracer = null;
    },
  };
}

function tracerFor(
  target: Target,
  {
    counts,
    sampling,
    showsSql,
    observe,
  }: Pick<TracingOptions, 'showsSql' | 'observe'> & { readonly counts: SpanCounts; readonly sampling: Sampling },
): Tracer {
  const { maxBatch, maxQueue, delay } = target;
  return new Tracer({ maxBatch, maxQueue, maxQueueBytes: QUEUE_BYTES, delay, sampling, showsSql, counts, send: sender(target, observe) });
}

/** Tells of the first failure in a row, and of the end of it. */
function sender({ url, headers, attributes, outbound, timeout, compresses }: Target, observe: Observer): SendSpans {
  const resource = { attributes, scope: { name: 'svc-graphql', version: serviceVersion() } };
  let isFailing = false;
  const tell = (message: string | null): void => {
    if ((message !== null) !== isFailing) {
      const text = message === null ? 'spans are taken again' : `spans are lost: ${message}`;
      observe({ kind: 'source', source: 'opentelemetry', event: message === null ? 'available' : 'unavailable', message: text });
    }
    isFailing = message !== null;
  };
  return async (spans) => {
    const encoded = encodeSpans(spans, resource);
    const body = compresses ? gzipSync(encoded) : encoded;
    const all = { ...headers, 'content-type': 'application/x-protobuf', ...(compresses ? { 'content-encoding': 'gzip' } : {}) };
    let failure = '';
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (attempt > 0) await pause(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt));
      try {
        const { status } = await outbound.send({
          kind: 'telemetry',
          url,
          method: 'POST',
          headers: all,
          body,
          timeout,
          maxResponseSize: 65_536,
        });
        if (status >= 200 && status < 300) {
          tell(null);
          return true;
        }
        failure = `the collector answers with status ${status}`;
        if (!AGAIN.has(status)) break;
      } catch (error) {
        // Without the path, which may be what authorizes.
        failure =
          error instanceof Error ? error.message.replaceAll(safeUrl(url), () => new URL(url).origin) : 'the collector cannot be called';
      }
    }
    tell(failure);
    return false;
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

function metadataTarget(
  openTelemetry: OpenTelemetry | null,
  { environment, outbound, observe }: TracingOptions,
  instance: string,
): Target | null {
  if (openTelemetry === null || !openTelemetry.dataTypes.includes('traces')) return null;
  const { status, exporterOtlp, batchSpanProcessor } = openTelemetry;
  const missing = (names: readonly string[]): Error => new Error(`environment variables are not set: ${names.join(', ')}`);
  const filled = (template: string): string => {
    const result = fillTemplate(template, environment);
    if ('missing' in result) throw missing(result.missing);
    return result.text;
  };
  try {
    if (filled(status) !== 'enabled') return null;
    const url = endpoint(filled(exporterOtlp.otlpTracesEndpoint ?? ''));
    const headers = exporterOtlp.headers.map((header) => [header.name, configuredHeaderValue(header, environment, missing)] as const);
    const own = exporterOtlp.resourceAttributes.map(({ name, value }) => [name, filled(value)] as const);
    const { maxExportBatchSize: maxBatch } = batchSpanProcessor;
    return {
      ...{ url, headers: Object.fromEntries(headers), outbound, maxBatch, maxQueue: QUEUED_BATCHES * maxBatch },
      attributes: new Map<string, Attribute>([...resourceAttributes(environment, instance), ...own]),
      ...{ delay: DEFAULT_DELAY_MS, timeout: DEFAULT_TIMEOUT_MS, compresses: false },
    };
  } catch (error) {
    const message = `traces are not exported: ${error instanceof Error ? error.message : 'the configuration cannot be read'}`;
    observe({ kind: 'startup', message: 'tracing', info: { warning: message } });
    return null;
  }
}

function environmentTarget({ environment, ownOutbound }: TracingOptions, instance: string): Target | null {
  if (isDisabled(environment) || (environment['OTEL_TRACES_EXPORTER'] ?? 'otlp') === 'none') return null;
  const general = environment['OTEL_EXPORTER_OTLP_ENDPOINT'];
  const own = environment['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'];
  const text = own || (general ? `${general.replace(/\/+$/, '')}/v1/traces` : '');
  if (text === '') return null;
  const compression = environment['OTEL_EXPORTER_OTLP_TRACES_COMPRESSION'] ?? environment['OTEL_EXPORTER_OTLP_COMPRESSION'] ?? 'none';
  if (compression !== 'none' && compression !== 'gzip') throw new Error('OTEL_EXPORTER_OTLP_COMPRESSION: expecting none or gzip');
  const protocol = environment['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] ?? environment['OTEL_EXPORTER_OTLP_PROTOCOL'] ?? 'http/protobuf';
  if (protocol !== 'http/protobuf') throw new Error(`OTEL_EXPORTER_OTLP_PROTOCOL: ${protocol} is not supported, only http/protobuf`);
  return {
    url: endpoint(text),
    headers: pairs('OTEL_EXPORTER_OTLP_HEADERS', [
      environment['OTEL_EXPORTER_OTLP_HEADERS'],
      environment['OTEL_EXPORTER_OTLP_TRACES_HEADERS'],
    ]),
    attributes: resourceAttributes(environment, instance),
    outbound: ownOutbound,
    maxBatch: whole(environment, 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE', DEFAULT_BATCH_SIZE),
    maxQueue: whole(environment, 'OTEL_BSP_MAX_QUEUE_SIZE', DEFAULT_QUEUE),
    delay: whole(environment, 'OTEL_BSP_SCHEDULE_DELAY', DEFAULT_DELAY_MS),
    timeout: whole(environment, 'OTEL_EXPORTER_OTLP_TIMEOUT', DEFAULT_TIMEOUT_MS),
    compresses: compression === 'gzip',
  };
}

function isDisabled(environment: Environment): boolean {
  return environment['OTEL_SDK_DISABLED']?.toLowerCase() === 'true';
}

function resourceAttributes(environment: Environment, instance: string): ReadonlyMap<string, Attribute> {
  const given = pairs('OTEL_RESOURCE_ATTRIBUTES', [environment['OTEL_RESOURCE_ATTRIBUTES']]);
  const name = environment['OTEL_SERVICE_NAME'] || given['service.name'] || 'svc-graphql';
  return new Map<string, Attribute>([
    ['service.version', serviceVersion()],
    ['service.instance.id', instance],
    ...Object.entries(given),
    ['service.name', name],
  ]);
}

/** `a=1,b=2`, percent-encoded; later texts count more. */
function pairs(variable: string, texts: readonly (string | undefined)[]): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const item of texts.flatMap((text) => (text ?? '').split(','))) {
    if (item.trim() === '') continue;
    const at = item.indexOf('=');
    if (at < 1) throw new Error(`${variable}: expecting a comma separated list of name=value`);
    try {
      found[item.slice(0, at).trim()] = decodeURIComponent(item.slice(at + 1).trim());
    } catch {
      throw new Error(`${variable}: a value is not well encoded`);
    }
  }
  return found;
}

const SAMPLERS: Readonly<Record<string, { readonly followsParent: boolean; readonly ratio: number | null }>> = {
  always_on: { followsParent: false, ratio: 1 },
  always_off: { followsParent: false, ratio: 0 },
  traceidratio: { followsParent: false, ratio: null },
  parentbased_always_on: { followsParent: true, ratio: 1 },
  parentbased_always_off: { followsParent: true, ratio: 0 },
  parentbased_traceidratio: { followsParent: true, ratio: null },
};

function samplingOf(environment: Environment): Sampling {
  const name = environment['OTEL_TRACES_SAMPLER'] || 'parentbased_always_on';
  const sampler = SAMPLERS[name];
  if (sampler === undefined) throw new Error(`OTEL_TRACES_SAMPLER: expecting one of ${Object.keys(SAMPLERS).join(', ')}`);
  const text = environment['OTEL_TRACES_SAMPLER_ARG'] || '1';
  const ratio = Number(text);
  if (!(ratio >= 0 && ratio <= 1)) throw new Error('OTEL_TRACES_SAMPLER_ARG: expecting a number from 0 to 1');
  return { followsParent: sampler.followsParent, ratio: sampler.ratio ?? ratio };
}

function whole(environment: Environment, name: string, byDefault: number): number {
  const text = environment[name] || String(byDefault);
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1 || value > 2 ** 31 - 1) throw new Error(`${name}: expecting a whole number from 1 on`);
  return value;
}

function endpoint(text: string): string {
  const complaint = endpointComplaint(text);
  if (complaint !== null) throw new Error(complaint);
  return text;
}
