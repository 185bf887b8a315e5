/** Collectors for traces, metrics and log lines: those of the metadata if enabled there, else those of the environment. */
import { serviceVersion } from '../../config/version.ts';
import {
  configuredHeaderValue,
  type EnvironmentVariables,
  fillTemplate,
  type MissingVariables,
} from '../../metadata/environment-template.ts';
import { type DataType, DEFAULT_BATCH_SIZE, endpointProblem, endpointOf, type OpenTelemetry } from '../../metadata/opentelemetry.ts';
import type { BatchQueueSettings } from '../../observability/otlp/batch-queue.ts';
import type { Attribute } from '../../observability/tracing/span.ts';
import type { Sampling } from '../../observability/tracing/tracer.ts';
import type { OutboundClient } from '../../http-client/client.ts';

/** Collector of one kind of data. */
export interface ExportTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Resource attributes that describe this service. */
  readonly attributes: ReadonlyMap<string, Attribute>;
  readonly outbound: OutboundClient;
  /** ms */
  readonly timeout: number;
  readonly compresses: boolean;
  /** Maximum number of spans in one request, if the metadata sets it. */
  readonly maxBatch: number | null;
}

export interface TargetOptions {
  readonly environment: EnvironmentVariables;
  /** Client for endpoints from the metadata. */
  readonly outbound: OutboundClient;
  /** Client for endpoints from the environment, which may have private addresses. */
  readonly ownOutbound: OutboundClient;
  /** Id of this instance of the service. */
  readonly instance: string;
}

/** Settings from the environment that hold for all collectors. */
export interface ExportSettings {
  readonly sampling: Sampling;
  readonly spans: BatchQueueSettings;
  readonly lines: BatchQueueSettings;
  /** Interval between exports of all metrics, in ms. */
  readonly metricInterval: number;
}

const DEFAULT_SPAN_DELAY_MS = 5000;
const DEFAULT_LINE_DELAY_MS = 1000;
const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_METRIC_INTERVAL_MS = 60_000;
const DEFAULT_QUEUE = 2048;

/** Words for each data type in names of environment variables. */
const VARIABLES: Readonly<Record<DataType, string>> = { traces: 'TRACES', metrics: 'METRICS', logs: 'LOGS' };

/** @throws Error for an invalid environment variable */
export function exportSettings(environment: EnvironmentVariables): ExportSettings {
  const temporality = environment['OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE'] || 'cumulative';
  if (temporality.toLowerCase() !== 'cumulative')
    throw new Error(`OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: ${temporality} is not supported, only cumulative`);
  const queue = (name: string, delay: number): BatchQueueSettings => ({
    maxBatch: whole(environment, `OTEL_${name}_MAX_EXPORT_BATCH_SIZE`, DEFAULT_BATCH_SIZE),
    maxQueue: whole(environment, `OTEL_${name}_MAX_QUEUE_SIZE`, DEFAULT_QUEUE),
    delay: whole(environment, `OTEL_${name}_SCHEDULE_DELAY`, delay),
  });
  return {
    sampling: samplingOf(environment),
    spans: queue('BSP', DEFAULT_SPAN_DELAY_MS),
    lines: queue('BLRP', DEFAULT_LINE_DELAY_MS),
    metricInterval: whole(environment, 'OTEL_METRIC_EXPORT_INTERVAL', DEFAULT_METRIC_INTERVAL_MS),
  };
}

export function isDisabled(environment: EnvironmentVariables): boolean {
  return environment['OTEL_SDK_DISABLED']?.toLowerCase() === 'true';
}

/** @returns `null` if the metadata does not enable the export @throws Error if its settings cannot be used */
export function metadataTarget(
  type: DataType,
  openTelemetry: OpenTelemetry | null,
  { environment, outbound, instance }: TargetOptions,
): ExportTarget | null {
  if (openTelemetry === null || !openTelemetry.dataTypes.includes(type)) return null;
  const { status, exporterOtlp, batchSpanProcessor } = openTelemetry;
  const missing: MissingVariables = (variables) =>
    new Error(`environment variables are not set: ${variables.map(({ name }) => name).join(', ')}`);
  const filled = (template: string): string => {
    const result = fillTemplate(template, environment);
    if ('missing' in result) throw missing(result.missing);
    return result.text;
  };
  if (filled(status) !== 'enabled') return null;
  const url = endpoint(filled(endpointOf(openTelemetry, type) ?? ''));
  const headers = exporterOtlp.headers.map((header) => [header.name, configuredHeaderValue(header, environment, missing)] as const);
  const own = exporterOtlp.resourceAttributes.map(({ name, value }) => [name, filled(value)] as const);
  return {
    ...{ url, headers: Object.fromEntries(headers), outbound },
    attributes: new Map<string, Attribute>([...resourceAttributes(environment, instance), ...own]),
    timeout: timeoutOf(type, environment),
    compresses: false,
    maxBatch: batchSpanProcessor.maxExportBatchSize,
  };
}

/**
 * A general endpoint receives traces; it receives metrics and log lines only if their exporter is set to `otlp`. Many collectors accept
 * traces only, and enabling traces should not send the log to a new place.
 * @throws Error for an invalid environment variable
 */
export function environmentTarget(type: DataType, { environment, ownOutbound, instance }: TargetOptions): ExportTarget | null {
  const name = VARIABLES[type];
  const own = environment[`OTEL_EXPORTER_OTLP_${name}_ENDPOINT`];
  const general = environment['OTEL_EXPORTER_OTLP_ENDPOINT'];
  if (isDisabled(environment) || !(own || general)) return null;
  const exporter = environment[`OTEL_${name}_EXPORTER`] || (type === 'traces' || own ? 'otlp' : 'none');
  if (exporter === 'none') return null;
  if (exporter !== 'otlp') throw new Error(`OTEL_${name}_EXPORTER: expecting otlp or none`);
  // The variable of one data type takes precedence over the general one.
  const setting = (what: string): string | undefined =>
    environment[`OTEL_EXPORTER_OTLP_${name}_${what}`] || environment[`OTEL_EXPORTER_OTLP_${what}`];
  const compression = setting('COMPRESSION') ?? 'none';
  if (compression !== 'none' && compression !== 'gzip') throw new Error('OTEL_EXPORTER_OTLP_COMPRESSION: expecting none or gzip');
  const protocol = setting('PROTOCOL') ?? 'http/protobuf';
  if (protocol !== 'http/protobuf') throw new Error(`OTEL_EXPORTER_OTLP_PROTOCOL: ${protocol} is not supported, only http/protobuf`);
  return {
    url: endpoint(own || `${(general ?? '').replace(/\/+$/, '')}/v1/${type}`),
    headers: pairs('OTEL_EXPORTER_OTLP_HEADERS', [
      environment['OTEL_EXPORTER_OTLP_HEADERS'],
      environment[`OTEL_EXPORTER_OTLP_${name}_HEADERS`],
    ]),
    attributes: resourceAttributes(environment, instance),
    outbound: ownOutbound,
    timeout: timeoutOf(type, environment),
    compresses: compression === 'gzip',
    maxBatch: null,
  };
}

function timeoutOf(type: DataType, environment: EnvironmentVariables): number {
  const own = `OTEL_EXPORTER_OTLP_${VARIABLES[type]}_TIMEOUT`;
  return whole(environment, environment[own] ? own : 'OTEL_EXPORTER_OTLP_TIMEOUT', DEFAULT_TIMEOUT_MS);
}

function resourceAttributes(environment: EnvironmentVariables, instance: string): ReadonlyMap<string, Attribute> {
  const configured = pairs('OTEL_RESOURCE_ATTRIBUTES', [environment['OTEL_RESOURCE_ATTRIBUTES']]);
  const name = environment['OTEL_SERVICE_NAME'] || configured['service.name'] || 'svc-graphql';
  return new Map<string, Attribute>([
    ['service.version', serviceVersion()],
    ['service.instance.id', instance],
    ...Object.entries(configured),
    ['service.name', name],
  ]);
}

/** Parses lists such as `a=1,b=2` with percent-encoded values; later lists take precedence. */
function pairs(variable: string, texts: readonly (string | undefined)[]): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const item of texts.flatMap((text) => (text ?? '').split(','))) {
    if (item.trim() === '') continue;
    const at = item.indexOf('=');
    if (at < 1) throw new Error(`${variable}: expecting a comma separated list of name=value`);
    try {
      found[item.slice(0, at).trim()] = decodeURIComponent(item.slice(at + 1).trim());
    } catch {
      throw new Error(`${variable}: a value is not valid percent-encoding`);
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

function samplingOf(environment: EnvironmentVariables): Sampling {
  const name = environment['OTEL_TRACES_SAMPLER'] || 'parentbased_always_on';
  const sampler = SAMPLERS[name];
  if (sampler === undefined) throw new Error(`OTEL_TRACES_SAMPLER: expecting one of ${Object.keys(SAMPLERS).join(', ')}`);
  const text = environment['OTEL_TRACES_SAMPLER_ARG'] || '1';
  const ratio = Number(text);
  if (!(ratio >= 0 && ratio <= 1)) throw new Error('OTEL_TRACES_SAMPLER_ARG: expecting a number from 0 to 1');
  return { followsParent: sampler.followsParent, ratio: sampler.ratio ?? ratio };
}

function whole(environment: EnvironmentVariables, name: string, byDefault: number): number {
  const text = environment[name] || String(byDefault);
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1 || value > 2 ** 31 - 1) throw new Error(`${name}: expecting an integer of at least 1`);
  return value;
}

function endpoint(text: string): string {
  const complaint = endpointProblem(text);
  if (complaint !== null) throw new Error(complaint);
  return text;
}
