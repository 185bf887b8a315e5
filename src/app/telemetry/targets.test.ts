import { describe, expect, it } from 'vitest';
import { DATA_TYPES } from '../../metadata/opentelemetry.ts';
import type { OutboundClient } from '../../http-client/client.ts';
import { environmentTarget, exportSettings, metadataTarget } from './targets.ts';
import { openTelemetryCodec } from '../../metadata/opentelemetry.ts';
import { ROOT } from '../../util/path.ts';

const client: OutboundClient = { send: () => Promise.reject(new Error('nothing is sent')), close: async () => undefined };
const HOST = 'http://collector:4318';

function urls(environment: Readonly<Record<string, string>>): readonly (string | undefined)[] {
  const options = { environment, outbound: client, ownOutbound: client, instance: 'i' };
  return DATA_TYPES.map((type) => environmentTarget(type, options)?.url);
}

describe('export targets of the environment', () => {
  it.each([
    ['exports nothing without variables', {}, [undefined, undefined, undefined]],
    ['exports only traces to a general endpoint', { OTEL_EXPORTER_OTLP_ENDPOINT: `${HOST}/` }, [`${HOST}/v1/traces`, undefined, undefined]],
    [
      'exports metrics and logs to a general endpoint if their exporter is otlp',
      { OTEL_EXPORTER_OTLP_ENDPOINT: HOST, OTEL_METRICS_EXPORTER: 'otlp', OTEL_LOGS_EXPORTER: 'otlp' },
      [`${HOST}/v1/traces`, `${HOST}/v1/metrics`, `${HOST}/v1/logs`],
    ],
    [
      'exports each data type to its own endpoint',
      { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://m/x', OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'http://l' },
      [undefined, 'http://m/x', 'http://l'],
    ],
    [
      'exports no data type whose exporter is none',
      {
        OTEL_EXPORTER_OTLP_ENDPOINT: HOST,
        OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'http://l',
        OTEL_TRACES_EXPORTER: 'none',
        OTEL_LOGS_EXPORTER: 'none',
      },
      [undefined, undefined, undefined],
    ],
    ['has no default endpoint', { OTEL_METRICS_EXPORTER: 'otlp' }, [undefined, undefined, undefined]],
    [
      'exports nothing if the SDK is disabled',
      { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://m/x', OTEL_SDK_DISABLED: 'true' },
      [undefined, undefined, undefined],
    ],
  ])('%s', (_, environment, expected) => {
    expect(urls(environment)).toEqual(expected);
  });

  it('prefers the setting of a data type to the general one', () => {
    const environment = {
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://m',
      OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'http://l',
      OTEL_EXPORTER_OTLP_TIMEOUT: '1',
      OTEL_EXPORTER_OTLP_LOGS_TIMEOUT: '2',
      OTEL_EXPORTER_OTLP_HEADERS: 'a=1,b=2',
      OTEL_EXPORTER_OTLP_LOGS_HEADERS: 'b=3',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_EXPORTER_OTLP_LOGS_COMPRESSION: 'none',
    };
    const options = { environment, outbound: client, ownOutbound: client, instance: 'i' };
    expect(environmentTarget('metrics', options)).toMatchObject({ timeout: 1, headers: { a: '1', b: '2' }, compresses: true });
    expect(environmentTarget('logs', options)).toMatchObject({ timeout: 2, headers: { a: '1', b: '3' }, compresses: false });
  });

  it.each([
    [
      { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://m', OTEL_METRICS_EXPORTER: 'console' },
      'OTEL_METRICS_EXPORTER: expecting otlp or none',
    ],
    [{ OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'ftp://l' }, 'no http or https URL'],
    [{ OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'http://l', OTEL_EXPORTER_OTLP_LOGS_PROTOCOL: 'grpc' }, 'only http/protobuf'],
    [{ OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'http://l', OTEL_EXPORTER_OTLP_LOGS_TIMEOUT: 'x' }, 'OTEL_EXPORTER_OTLP_LOGS_TIMEOUT'],
    [{ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://m', OTEL_EXPORTER_OTLP_COMPRESSION: 'br' }, 'expecting none or gzip'],
  ])('rejects %j', (environment, message) => {
    expect(() => urls(environment)).toThrow(message);
  });

  it.each([
    [{ OTEL_METRIC_EXPORT_INTERVAL: '0' }, 'OTEL_METRIC_EXPORT_INTERVAL'],
    [{ OTEL_BLRP_MAX_QUEUE_SIZE: 'x' }, 'OTEL_BLRP_MAX_QUEUE_SIZE'],
    [{ OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: 'delta' }, 'only cumulative'],
  ])('rejects the export setting %j', (environment, message) => {
    expect(() => exportSettings(environment)).toThrow(message);
  });
});

it('exports the data types that the metadata enables to its endpoints', () => {
  const config = openTelemetryCodec.decode(
    { status: '{{ON}}', data_types: ['metrics'], exporter_otlp: { otlp_metrics_endpoint: '{{HOST}}/m' } },
    ROOT,
  );
  const options = { environment: { ON: 'enabled', HOST }, outbound: client, ownOutbound: client, instance: 'i' };
  expect(DATA_TYPES.map((type) => metadataTarget(type, config, options)?.url)).toEqual([undefined, `${HOST}/m`, undefined]);
  expect(metadataTarget('metrics', config, { ...options, environment: { ON: 'disabled' } })).toBeNull();
  expect(() => metadataTarget('metrics', config, { ...options, environment: { ON: 'enabled' } })).toThrow('not set: HOST');
});
