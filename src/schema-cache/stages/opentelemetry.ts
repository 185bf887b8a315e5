/** What keeps traces from being sent as the metadata say: kinds of data that are not exported, addresses, what is not in the environment. */
import {
  type Environment,
  environmentVariable,
  filledTemplate,
  headerComplaint,
  variablesNotFound,
  variablesNotSet,
} from '../../metadata/environment-template.ts';
import {
  endpointComplaint,
  type OpenTelemetry,
  openTelemetryCodec,
  unsupportedData,
  unsupportedDataMessage,
} from '../../metadata/opentelemetry.ts';
import { Defect, inconsistent } from '../inconsistency.ts';
import { objectId } from '../object-id.ts';
import type { Inconsistency } from '../schema-cache.ts';

export function openTelemetryDefects(config: OpenTelemetry | null, environment: Environment): readonly Inconsistency[] {
  if (config === null) return [];
  const records = unsupportedData(config).map((type) => {
    const object = {
      objectId: objectId.section('opentelemetry.data_types', type),
      type: 'opentelemetry',
      name: `opentelemetry ${type}`,
      definition: type,
    };
    return inconsistent(object, `${unsupportedDataMessage(type)} (at opentelemetry.data_types)`);
  });
  try {
    check(config, environment);
    return records;
  } catch (error) {
    if (!(error instanceof Defect)) throw error;
    const object = {
      objectId: objectId.openTelemetry(),
      type: 'opentelemetry',
      name: 'opentelemetry',
      definition: openTelemetryCodec.encode(config),
    };
    return [...records, inconsistent(object, error.message)];
  }
}

/** @throws Defect */
function check({ status, exporterOtlp }: OpenTelemetry, environment: Environment): void {
  const { otlpTracesEndpoint, otlpMetricsEndpoint, otlpLogsEndpoint, headers, resourceAttributes } = exporterOtlp;
  const filled = (template: string): string =>
    filledTemplate(template, environment, (names) => new Defect(`${variablesNotFound(names)} (at opentelemetry)`));
  const isEnabled = filled(status);
  if (isEnabled !== 'enabled' && isEnabled !== 'disabled')
    throw new Defect(`the status is neither "enabled" nor "disabled" (at opentelemetry.status)`);
  const endpoints = { traces: otlpTracesEndpoint, metrics: otlpMetricsEndpoint, logs: otlpLogsEndpoint };
  for (const [type, endpoint] of Object.entries(endpoints)) {
    if (endpoint === undefined || endpoint === '') continue;
    // What is switched off may wait for its variables.
    if (isEnabled === 'disabled' && endpoint.includes('{{')) continue;
    const complaint = endpointComplaint(filled(endpoint));
    if (complaint !== null) throw new Defect(`${complaint} (at opentelemetry.exporter_otlp.otlp_${type}_endpoint)`);
  }
  if (isEnabled === 'disabled') return;
  for (const { name, value = '', valueFromEnv } of headers) {
    const text =
      valueFromEnv === undefined
        ? filled(value)
        : environmentVariable(valueFromEnv, environment, (names) => new Defect(`${variablesNotSet(names)} (at opentelemetry)`));
    const complaint = headerComplaint(name, text);
    if (complaint !== null) throw new Defect(`${complaint} (at opentelemetry.exporter_otlp.headers)`);
  }
  for (const { value } of resourceAttributes) filled(value);
}
