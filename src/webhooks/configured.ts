/** URLs and headers of the metadata, filled from the environment. */
import {
  type ConfiguredText,
  type EnvironmentVariables,
  environmentVariable,
  filledTemplate,
  type HeaderDefinition,
  configuredHeaderValue,
  type MissingVariables,
} from '../metadata/environment-template.ts';

/** @throws the error of `missing` if variables are not set */
export function configuredUrl(url: ConfiguredText, environment: EnvironmentVariables, missing: MissingVariables): string {
  return url.kind === 'template' ? filledTemplate(url.text, environment, missing) : environmentVariable(url.name, environment, missing);
}

/** Headers by name in lower case. @throws the error of `missing` if variables are not set */
export function configuredHeaders(
  headers: readonly HeaderDefinition[],
  environment: EnvironmentVariables,
  missing: MissingVariables,
): Record<string, string> {
  return Object.fromEntries(headers.map((header) => [header.name.toLowerCase(), configuredHeaderValue(header, environment, missing)]));
}
