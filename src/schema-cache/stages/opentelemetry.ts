/** Returns the problems that prevent the export of telemetry: invalid addresses and missing environment variables. */
import {
  type EnvironmentVariables,
  environmentVariable,
  filledTemplate,
  headerProblem,
  variablesNotFound,
  variablesNotSet,
} from '../../metadata/environment-template.ts';
import {
  DATA_TYPES,
  endpointProblem,
  endpointOf,
  missingEndpoint,
  type OpenTelemetry,
  openTelemetryCodec,
} from '../../metadata/opentelemetry.ts';
import { Defect, inconsistent } from '../inconsistency.ts';
import { objectId } from '../object-id.ts';
import type { Inconsistency } from '../schema-cache.ts';

export function openTelemetryDefects(config: OpenTelemetry | null, environment: EnvironmentVariables): readonly Inconsistency[] {
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
function check(config: OpenTelemetry, environment: EnvironmentVariables): void {
  const { status, exporterOtlp } = config;
  const { headers, resourceAttributes } = exporterOtlp;
  const filled = (template: string): string =>
    filledTemplate(template, environment, (variables) => new Defect(`${variablesNotFound(variables)} (at opentelemetry)`));
  const currentStatus = filled(status);
  if (currentStatus !== 'enabled' && currentStatus !== 'disabled')
    throw new Defect(`the status is neither "enabled" nor "disabled" (at opentelemetry.status)`);
  for (const type of DATA_TYPES) {
    const endpoint = endpointOf(config, type);
    if (endpoint === null) continue;
    // If the export is disabled, variables may be missing.
    if (currentStatus === 'disabled' && endpoint.includes('{{')) continue;
    const problem = endpointProblem(filled(endpoint));
    if (problem !== null) throw new Defect(`${problem} (at opentelemetry.exporter_otlp.otlp_${type}_endpoint)`);
  }
  if (currentStatus === 'disabled') return;
  const missing = missingEndpoint(config);
  if (missing !== null) throw new Defect(`${missing} (at opentelemetry.exporter_otlp)`);
  for (const { name, value = '', valueFromEnv } of headers) {
    const text =
      valueFromEnv === undefined
        ? filled(value)
        : environmentVariable(valueFromEnv, environment, (variables) => new Defect(`${variablesNotSet(variables)} (at opentelemetry)`));
    const problem = headerProblem(name, text);
    if (problem !== null) throw new Defect(`${problem} (at opentelemetry.exporter_otlp.headers)`);
  }
  for (const { value } of resourceAttributes) filled(value);
}
