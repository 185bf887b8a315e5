import { openTelemetryCodec, openTelemetryStatusCodec } from '../../metadata/opentelemetry.ts';
import { at, ROOT } from '../../util/path.ts';
import { objectId } from '../../schema-cache/object-id.ts';
import { refused } from '../operation-error.ts';
import { operation, type OperationGroup } from '../operation.ts';

const ENDPOINT_MISSING = refused('invalid-params', 'traces, metrics or logs are enabled without an endpoint');

const UNUSABLE = refused('invalid-configuration', 'an endpoint is not an HTTP or HTTPS URL, or an environment variable is not set');

const setConfig: OperationGroup = () => [
  operation({
    type: 'set_opentelemetry_config',
    args: openTelemetryCodec,
    changes: 'metadata',
    edited: () => [objectId.openTelemetry()],
    errors: [ENDPOINT_MISSING, UNUSABLE],
    documentation: {
      summary:
        'Configures the export of traces, metrics and logs over OpenTelemetry. Replaces the previous configuration. See [tracing](../tracing.md).',
      example: {
        status: 'enabled',
        data_types: ['traces', 'metrics', 'logs'],
        exporter_otlp: {
          otlp_traces_endpoint: 'http://collector.internal:4318/v1/traces',
          otlp_metrics_endpoint: 'http://collector.internal:4318/v1/metrics',
          otlp_logs_endpoint: 'http://collector.internal:4318/v1/logs',
          headers: [{ name: 'x-key', value_from_env: 'COLLECTOR_KEY' }],
          resource_attributes: [{ name: 'deployment.environment.name', value: 'production' }],
        },
      },
    },
    edit: (metadata, openTelemetry) => ({ ...metadata, openTelemetry }),
  }),
];

const setStatus: OperationGroup = () => [
  operation({
    type: 'set_opentelemetry_status',
    args: openTelemetryStatusCodec,
    changes: 'metadata',
    edited: () => [objectId.openTelemetry()],
    errors: [ENDPOINT_MISSING, UNUSABLE],
    documentation: { summary: 'Enables or disables the export that `set_opentelemetry_config` has configured.', example: 'disabled' },
    edit(metadata, status) {
      const before = metadata.openTelemetry ?? openTelemetryCodec.decode({}, ROOT);
      const after = openTelemetryCodec.decode(openTelemetryCodec.encode({ ...before, status }), at(ROOT, 'args'));
      return { ...metadata, openTelemetry: after };
    },
  }),
];

export const openTelemetryOperations: readonly OperationGroup[] = [setConfig, setStatus];
