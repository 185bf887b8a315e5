import { SvcError } from '../../errors/svc-error.ts';
import {
  type OpenTelemetry,
  openTelemetryCodec,
  openTelemetryStatusCodec,
  unsupportedData,
  unsupportedDataMessage,
} from '../../metadata/opentelemetry.ts';
import { at, ROOT } from '../../util/path.ts';
import { objectId } from '../../schema-cache/object-id.ts';
import { refused } from '../operation-error.ts';
import { operation, type OperationGroup } from '../operation.ts';

const ENDPOINT_MISSING = refused('invalid-params', 'traces are to be exported and there is no endpoint for them');

const UNUSABLE = refused('invalid-configuration', 'an endpoint is no http or https URL, or what it needs is not in the environment');

/** @throws SvcError not-supported */
function checked(config: OpenTelemetry): OpenTelemetry {
  const [type] = unsupportedData(config);
  if (type === undefined) return config;
  throw new SvcError('not-supported', unsupportedDataMessage(type), { path: at(at(ROOT, 'args'), 'data_types') });
}

const setConfig: OperationGroup = () => [
  operation({
    type: 'set_opentelemetry_config',
    args: openTelemetryCodec,
    changes: 'metadata',
    edited: () => [objectId.openTelemetry()],
    errors: [ENDPOINT_MISSING, UNUSABLE, refused('not-supported', 'metrics or logs are to be exported')],
    documentation: {
      summary: 'Says where traces are sent, in place of what was said before; see tracing.md.',
      example: {
        status: 'enabled',
        data_types: ['traces'],
        exporter_otlp: {
          otlp_traces_endpoint: 'http://collector.internal:4318/v1/traces',
          headers: [{ name: 'x-key', value_from_env: 'COLLECTOR_KEY' }],
          resource_attributes: [{ name: 'deployment.environment.name', value: 'production' }],
        },
      },
    },
    edit: (metadata, openTelemetry) => ({ ...metadata, openTelemetry: checked(openTelemetry) }),
  }),
];

const setStatus: OperationGroup = () => [
  operation({
    type: 'set_opentelemetry_status',
    args: openTelemetryStatusCodec,
    changes: 'metadata',
    edited: () => [objectId.openTelemetry()],
    errors: [ENDPOINT_MISSING, UNUSABLE],
    documentation: { summary: 'Switches the export on or off, as `set_opentelemetry_config` has described it.', example: 'disabled' },
    edit(metadata, status) {
      const before = metadata.openTelemetry ?? openTelemetryCodec.decode({}, ROOT);
      const after = openTelemetryCodec.decode(openTelemetryCodec.encode({ ...before, status }), at(ROOT, 'args'));
      return { ...metadata, openTelemetry: checked(after) };
    },
  }),
];

export const openTelemetryOperations: readonly OperationGroup[] = [setConfig, setStatus];
