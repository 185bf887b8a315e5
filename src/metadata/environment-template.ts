/** Texts with `{{NAME}}` for environment variables, and headers with such texts as values. */
import { type Codec, leaf, like, list, listOrNone, nonEmptyText, object, optional, parseFailed, required, text } from './codec.ts';

/** Variables that the metadata may refer to. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

const PLACEHOLDER = /\{\{\s*([^{}\s]+)\s*\}\}/g;

/** Returns the names of the variables in a template. */
export function templateVariables(template: string): readonly string[] {
  return [...template.matchAll(PLACEHOLDER)].map(([, name]) => name as string);
}

/** A variable without a value for the metadata. */
export interface MissingVariable {
  readonly name: string;
  /** False for a setting of the service in a template, whether or not it is set. */
  readonly isPermitted: boolean;
}

/** The text, or the variables that it needs and that have no value, each once. */
export type FilledTemplate = { readonly text: string } | { readonly missing: readonly MissingVariable[] };

/** Replaces variables in a text by their values. Settings of the service are not permitted: its secrets would be sent to any address. */
export function fillTemplate(template: string, environment: EnvironmentVariables): FilledTemplate {
  const missing = new Map<string, MissingVariable>();
  const filled = template.replace(PLACEHOLDER, (_, name: string) => {
    const value = environment[name];
    const isPermitted = !isOwnSetting(name);
    if (!isPermitted || value === undefined) missing.set(name, { name, isPermitted });
    return value ?? '';
  });
  return missing.size === 0 ? { text: filled } : { missing: [...missing.values()] };
}

/** A text of the metadata. */
export type ConfiguredText =
  /** May contain `{{NAME}}` for environment variables. */
  | { readonly kind: 'template'; readonly text: string }
  /** Value of an environment variable. */
  | { readonly kind: 'environment'; readonly name: string };

/** Returns the error for variables without a value. */
export type MissingVariables = (variables: readonly MissingVariable[]) => Error;

/** Message about variables that the metadata refers to by name. Repeated variables are named once. */
export function variablesNotSet(variables: readonly MissingVariable[]): string {
  const messages = variables.map(({ name, isPermitted }) => (isPermitted ? `environment variable '${name}' not set` : notPermitted(name)));
  return [...new Set(messages)].join(', ');
}

/** Message about variables of a template. */
export function variablesNotFound(variables: readonly MissingVariable[]): string {
  const unset = variables.filter(({ isPermitted }) => isPermitted).map(({ name }) => name);
  const own = variables.filter(({ isPermitted }) => !isPermitted).map(({ name }) => notPermitted(name));
  return [...own, ...(unset.length === 0 ? [] : [`Value for environment variables not found: ${unset.join(', ')}`])].join(', ');
}

function notPermitted(name: string): string {
  return `environment variables starting with "${OWN_SETTINGS}" are not allowed in templates: {{${name}}}`;
}

/**
 * Returns true for a reason that contains a message about variables that are not set. The records of inconsistent objects have no code, and
 * one reason may contain several messages.
 */
export function isAboutVariables(reason: string): boolean {
  return /\benvironment variable '[^']*' not set\b|\benvironment variables not found: /i.test(reason);
}

/** Remedy for variables that are not set. */
export const SET_VARIABLES =
  'Set the environment variable for the service, or in the file .env of its working directory, and restart the service.';

/** See `fillTemplate`. @throws the error that `missing` returns for variables that are not set */
export function filledTemplate(template: string, environment: EnvironmentVariables, missing: MissingVariables): string {
  const filled = fillTemplate(template, environment);
  if ('missing' in filled) throw missing(filled.missing);
  return filled.text;
}

/** Returns the value of a variable. @throws the error that `missing` returns if it is not set */
export function environmentVariable(name: string, environment: EnvironmentVariables, missing: MissingVariables): string {
  const value = environment[name];
  if (value === undefined) throw missing([{ name, isPermitted: true }]);
  return value;
}

/** A header that the service sends. */
export interface HeaderDefinition {
  readonly name: string;
  /** A template. */
  readonly value?: string | undefined;
  /** Environment variable with the value. */
  readonly valueFromEnv?: string | undefined;
}

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Returns why a request cannot have such a header, or null. Values may be secrets, so messages do not contain them. */
export function headerProblem(name: string, value: string): string | null {
  if (!HEADER_NAME.test(name)) return `${JSON.stringify(name)} cannot be the name of a header`;
  return HEADER_VALUE.test(value) ? null : `the value of the header "${name}" has characters that no header can have`;
}

/** Prefix of the service's own settings, some of which are secrets. They must not be sent. */
const OWN_SETTINGS = 'SVC_GRAPHQL_';

/** Returns true if metadata must not refer to the environment variable. */
export function isOwnSetting(variable: string): boolean {
  return variable.startsWith(OWN_SETTINGS);
}

const written = object('HeaderConf', { name: required(nonEmptyText), value: optional(text), valueFromEnv: optional(nonEmptyText) });

const headerCodec: Codec<HeaderDefinition> = leaf(
  written.name,
  (json, path) => {
    const header = written.decode(json, path);
    if (header.value !== undefined && header.valueFromEnv !== undefined) {
      throw parseFailed('expecting only one of value or value_from_env keys', path);
    }
    if (header.value === undefined && header.valueFromEnv === undefined) {
      throw parseFailed('expecting value or value_from_env keys', path);
    }
    if (header.valueFromEnv !== undefined && isOwnSetting(header.valueFromEnv)) {
      throw parseFailed(`env variables starting with "${OWN_SETTINGS}" are not allowed in value_from_env: ${header.valueFromEnv}`, path);
    }
    return header;
  },
  (header) => written.encode(header),
  like(written, 'Has either `value`, which is a template, or `value_from_env`.'),
);

export const headersCodec = list(headerCodec);

/** The key `headers` of a webhook or handler. */
export const webhookHeaders = listOrNone(headersCodec);

/** Returns the value of a header. @throws the error that `missing` returns for variables that are not set */
export function configuredHeaderValue(
  { value = '', valueFromEnv }: HeaderDefinition,
  environment: EnvironmentVariables,
  missing: MissingVariables,
): string {
  return valueFromEnv === undefined ? filledTemplate(value, environment, missing) : environmentVariable(valueFromEnv, environment, missing);
}
