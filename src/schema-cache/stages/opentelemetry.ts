/** What keeps telemetry from being sent as the metadata say: addresses, and what is not in the environment. */
import {
  type Environment,
  environmentVariable,
  filledTemplate,
  headerComplaint,
  variablesNotFound,
  variablesNotSet,
} from '../../metadata/environment-template.ts';
import {
  DATA_TYPES,
  endpointComplaint,
  endpointOf,
  missingEndpoint,
  type OpenTelemetry,
  openTelemetryCodec,
} from '../../metadata/opentelemetry.ts';
import { Defect, inconsistent } from '../inconsistency.ts';
import { objectId } from '../object-id.ts';
import type { Inconsistency } from '../schema-cache.ts';

export function openTelemetryDefects(config: OpenTelemetry | null, environment: Environment): readonly Inconsistency[] {
  if (config === null) return [];
  try {
    check(config, environment);
    return [];
  } catch (error) {
    if (!(error instanceof Defect)) throw error;
    const object = {
      objectId: objectId.openTelemetry(),
      type: 'opentelemetry',
      name: 'opentelemetry',
      definition: openTelemetryCodec.encode(config),
    };
    return [inconsistent(object, error.message)];
  }
}

/** @throws Defect */
function check(config: OpenTelemetry, environment: Environment): void {
  const { status, exporterOtlp } = config;
  const { headers, resourceAttributes } = exporterOtlp;
  const filled = (template: string): string =>
    filledTemplate(template, environment, (names) => new Defect(`${variablesNotFound(names)} (at opentelemetry)`));
  const isEnabled = filled(status);
  if (isEnabled !== 'enabled' && isEnabled !== 'disabled')
    throw new Defect(`the status is neither "enabled" nor "disabled" (at opentelemetry.status)`);
  for (const type of DATA_TYPES) {
    const endpoint = endpointOf(config, type);
    if (endpoint === null) continue;
    // What is switched off may wait for its variables.
    if (isEnabled === 'disabled' && endpoint.includes('{{')) continue;
    const complaint = endpointComplaint(filled(endpoint));
    if (complaint !== null) throw new Defect(`${complaint} (at opentelemetry.exporter_otlp.otlp_${type}_endpoint)`);
  }
  if (isEnabled === 'disabled') return;
  const missing = missingEndpoint(config);
  if (missing !== null) throw new Defect(`${missing} (at opentelemetry.exporter_otlp)`);
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
