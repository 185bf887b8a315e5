/** What metadata configure of a call, filled from the environment. */
import {
  type ConfiguredText,
  type Environment,
  environmentVariable,
  filledTemplate,
  type HeaderDefinition,
  configuredHeaderValue,
  type MissingVariables,
} from '../metadata/environment-template.ts';

/** @throws what `missing` makes of variables that are not set */
export function configuredUrl(url: ConfiguredText, environment: Environment, missing: MissingVariables): string {
  return url.kind === 'template' ? filledTemplate(url.text, environment, missing) : environmentVariable(url.name, environment, missing);
}

/** By name in lower case. @throws what `missing` makes of variables that are not set */
export function configuredHeaders(
  headers: readonly HeaderDefinition[],
  environment: Environment,
  missing: MissingVariables,
): Record<string, string> {
  return Object.fromEntries(headers.map((header) => [header.name.toLowerCase(), configuredHeaderValue(header, environment, missing)]));
}
