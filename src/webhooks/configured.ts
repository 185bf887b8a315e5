/** URLs and headers that metadata configure, filled from the environment. */
import type { SvcError } from '../errors/svc-error.ts';
import { type Environment, fillTemplate, type HeaderDefinition } from '../metadata/environment-template.ts';

/** How it is refused that environment variables are not set. */
export type MissingVariables = (names: readonly string[]) => SvcError;

/** @throws SvcError of `missing` */
export function filledTemplate(template: string, environment: Environment, missing: MissingVariables): string {
  const result = fillTemplate(template, environment);
  if ('missing' in result) throw missing(result.missing);
  return result.text;
}

/** @throws SvcError of `missing` */
export function environmentVariable(name: string, environment: Environment, missing: MissingVariables): string {
  const value = environment[name];
  if (value === undefined) throw missing([name]);
  return value;
}

/** By name in lower case. @throws SvcError of `missing` */
export function configuredHeaders(
  headers: readonly HeaderDefinition[],
  environment: Environment,
  missing: MissingVariables,
): Record<string, string> {
  const text = ({ value, valueFromEnv }: HeaderDefinition): string =>
    valueFromEnv === undefined
      ? filledTemplate(value ?? '', environment, missing)
      : environmentVariable(valueFromEnv, environment, missing);
  return Object.fromEntries(headers.map((header) => [header.name.toLowerCase(), text(header)]));
}
