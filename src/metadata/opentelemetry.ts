/** What is told to a collector of OpenTelemetry: `set_opentelemetry_config` in docs/reference/metadata-api.md. */
import { SvcError } from '../errors/svc-error.ts';
import { at } from '../util/path.ts';
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
import { isJsonObject } from '../util/json.ts';
import { isWebUrl } from '../util/web-url.ts';

export const DATA_TYPES = ['traces', 'metrics', 'logs'] as const;
export type DataType = (typeof DATA_TYPES)[number];

const PROPAGATORS = ['b3', 'tracecontext'] as const;
export type Propagator = (typeof PROPAGATORS)[number];

export interface OtlpExporter {
  /** Templates; used as they are. */
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
  /** `enabled`, `disabled`, or a template that becomes one of them. */
  readonly status: string;
  readonly dataTypes: readonly DataType[];
  readonly exporterOtlp: OtlpExporter;
  readonly batchSpanProcessor: { readonly maxExportBatchSize: number };
}

export const DEFAULT_BATCH_SIZE = 512;
const MOST_IN_BATCH = 100_000;

const statusCodec: Codec<string> = leaf(
  'OtelStatus',
  (json, path) => {
    const status = text.decode(json, path);
    if (status === 'enabled' || status === 'disabled' || /^\{\{[^{}]+\}\}$/.test(status)) return status;
    throw new SvcError('parse-failed', 'expected "enabled", "disabled" or a variable such as "{{OTEL_STATUS}}"', { path });
  },
  (status) => status,
  { says: '`"enabled"`, `"disabled"`, or a variable of the environment that is one of them: `"{{OTEL_STATUS}}"`.' },
);

/** Argument of `set_opentelemetry_status`. */
export const openTelemetryStatusCodec = statusCodec;

const batchSizeCodec: Codec<number> = leaf(
  'Int',
  (json, path) => {
    const size = int.decode(json, path);
    if (size >= 1 && size <= MOST_IN_BATCH) return size;
    throw new SvcError('invalid-params', 'max_export_batch_size must be a positive integer', { path });
  },
  (size) => size,
  { says: `A whole number from 1 to ${MOST_IN_BATCH}.` },
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

/** Arguments of `set_opentelemetry_config`, and the section of the document; an empty section is none. */
export const openTelemetryCodec: Codec<OpenTelemetry> = leaf(
  written.name,
  (json, path) => {
    const config = written.decode(json, path);
    const { otlpTracesEndpoint } = config.exporterOtlp;
    if (config.status === 'enabled' && config.dataTypes.includes('traces') && (otlpTracesEndpoint ?? '') === '') {
      throw new SvcError('invalid-params', 'Traces export is enabled but tracing endpoint missing', { path: at(path, 'exporter_otlp') });
    }
    return config;
  },
  (config) => {
    const json = written.encode(config);
    return isJsonObject(json) ? json : {};
  },
  like(written),
);

/** Why nothing can be sent there; null: it can. @param endpoint filled from the environment, which is not quoted */
export function endpointComplaint(endpoint: string): string | null {
  return isWebUrl(endpoint) ? null : 'the endpoint is no http or https URL';
}

/** Data that is asked for and not exported. */
export function unsupportedData({ dataTypes }: OpenTelemetry): readonly DataType[] {
  return dataTypes.filter((type) => type !== 'traces');
}

/** What is said of them. */
export function unsupportedDataMessage(type: DataType): string {
  return `${type} are not exported over OpenTelemetry${type === 'metrics' ? ': Prometheus reads them from /v1/metrics' : ''}`;
}
