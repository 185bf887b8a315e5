/** Export to an OpenTelemetry collector: `set_opentelemetry_config` in docs/reference/metadata-api.md. */
import { SvcError } from '../errors/svc-error.ts';
import { at, type Path } from '../util/path.ts';
import {
  type Codec,
  defaulted,
  int,
  leaf,
  like,
  list,
  listOrNone,
  literal,
  nonEmptyText,
  object,
  optional,
  required,
  text,
} from './codec.ts';
import { headersCodec, type HeaderDefinition } from './environment-template.ts';
import { objectOf } from '../util/json.ts';
import { isWebUrl } from '../util/web-url.ts';

export const DATA_TYPES = ['traces', 'metrics', 'logs'] as const;
export type DataType = (typeof DATA_TYPES)[number];

const PROPAGATORS = ['b3', 'tracecontext'] as const;
export type Propagator = (typeof PROPAGATORS)[number];

export interface OtlpExporter {
  /** URL templates, used without changes. */
  readonly otlpTracesEndpoint?: string | undefined;
  readonly otlpMetricsEndpoint?: string | undefined;
  readonly otlpLogsEndpoint?: string | undefined;
  readonly protocol: 'http/protobuf';
  readonly headers: readonly HeaderDefinition[];
  /** Values are templates. */
  readonly resourceAttributes: readonly { readonly name: string; readonly value: string }[];
  readonly tracesPropagators: readonly Propagator[];
}

export interface OpenTelemetry {
  /** `enabled`, `disabled`, or a template that evaluates to one of them. */
  readonly status: string;
  readonly dataTypes: readonly DataType[];
  readonly exporterOtlp: OtlpExporter;
  readonly batchSpanProcessor: { readonly maxExportBatchSize: number };
}

export const DEFAULT_BATCH_SIZE = 512;
const MAX_BATCH_SIZE = 100_000;

const statusCodec: Codec<string> = leaf(
  'OtelStatus',
  (json, path) => {
    const status = text.decode(json, path);
    if (status === 'enabled' || status === 'disabled' || /^\{\{[^{}]+\}\}$/.test(status)) return status;
    throw new SvcError('parse-failed', 'expected "enabled", "disabled" or a variable such as "{{OTEL_STATUS}}"', { path });
  },
  (status) => status,
  { description: '`"enabled"`, `"disabled"`, or an environment variable with one of these values: `"{{OTEL_STATUS}}"`.' },
);

/** Argument of `set_opentelemetry_status`. */
export const openTelemetryStatusCodec = statusCodec;

const batchSizeCodec: Codec<number> = leaf(
  'Int',
  (json, path) => {
    const size = int.decode(json, path);
    if (size >= 1 && size <= MAX_BATCH_SIZE) return size;
    throw new SvcError('invalid-params', 'max_export_batch_size must be a positive integer', { path });
  },
  (size) => size,
  { description: `A whole number from 1 to ${MAX_BATCH_SIZE}.` },
);

const exporterCodec: Codec<OtlpExporter> = object('OtelExporterConfig', {
  otlpTracesEndpoint: optional(text),
  otlpMetricsEndpoint: optional(text),
  otlpLogsEndpoint: optional(text),
  protocol: defaulted<'http/protobuf'>(literal('OtlpProtocol', ['http/protobuf']), () => 'http/protobuf'),
  headers: listOrNone(headersCodec),
  resourceAttributes: listOrNone(list(object('NameValue', { name: required(nonEmptyText), value: required(text) }))),
  tracesPropagators: listOrNone(list(literal('TracePropagator', PROPAGATORS))),
});

const NO_EXPORTER: OtlpExporter = { protocol: 'http/protobuf', headers: [], resourceAttributes: [], tracesPropagators: [] };

const written: Codec<OpenTelemetry> = object('OpenTelemetryConfig', {
  status: defaulted(statusCodec, () => 'disabled'),
  dataTypes: listOrNone(list(literal('OtelDataType', DATA_TYPES))),
  exporterOtlp: defaulted<OtlpExporter>(exporterCodec, () => NO_EXPORTER),
  batchSpanProcessor: defaulted<OpenTelemetry['batchSpanProcessor']>(
    object('BatchSpanProcessor', { maxExportBatchSize: defaulted(batchSizeCodec, () => DEFAULT_BATCH_SIZE) }),
    () => ({ maxExportBatchSize: DEFAULT_BATCH_SIZE }),
    ({ maxExportBatchSize }) => maxExportBatchSize === DEFAULT_BATCH_SIZE,
  ),
});

/** The stored form: configurations from earlier versions may lack an endpoint. */
export const storedOpenTelemetryCodec: Codec<OpenTelemetry> = leaf(
  written.name,
  (json, path) => written.decode(json, path),
  (config) => {
    const json = written.encode(config);
    return objectOf(json);
  },
  like(written),
);

/** Arguments of `set_opentelemetry_config`. */
export const openTelemetryCodec: Codec<OpenTelemetry> = leaf(
  written.name,
  (json, path) => {
    const config = written.decode(json, path);
    checkEndpoints(config, path);
    return config;
  },
  (config) => storedOpenTelemetryCodec.encode(config),
  like(written),
);

/** @throws SvcError invalid-params */
export function checkEndpoints(config: OpenTelemetry, path: Path): void {
  const missing = config.status === 'enabled' ? missingEndpoint(config) : null;
  if (missing !== null) throw new SvcError('invalid-params', missing, { path: at(path, 'exporter_otlp') });
}

/** Returns what is wrong with an endpoint, or null. @param endpoint filled from the environment, so the message does not quote it */
export function endpointProblem(endpoint: string): string | null {
  return isWebUrl(endpoint) ? null : 'the endpoint is no http or https URL';
}

export function endpointOf({ exporterOtlp }: OpenTelemetry, type: DataType): string | null {
  const { otlpTracesEndpoint, otlpMetricsEndpoint, otlpLogsEndpoint } = exporterOtlp;
  return { traces: otlpTracesEndpoint, metrics: otlpMetricsEndpoint, logs: otlpLogsEndpoint }[type] || null;
}

const ENDPOINTS_MISSING: Readonly<Record<DataType, string>> = {
  traces: 'Traces export is enabled but tracing endpoint missing',
  metrics: 'Metrics export is enabled but metrics endpoint missing',
  logs: 'Logs export is enabled but logs endpoint missing',
};

/** Returns a message if an endpoint of the selected data types is missing, otherwise null. */
export function missingEndpoint(config: OpenTelemetry): string | null {
  const type = config.dataTypes.find((each) => endpointOf(config, each) === null);
  return type === undefined ? null : ENDPOINTS_MISSING[type];
}
