/** Texts with `{{NAME}}` for environment variables, and headers whose values may be such texts. */
import { type Codec, leaf, like, list, listOrNone, nonEmptyText, object, optional, parseFailed, required, text } from './codec.ts';

/** Variables that the metadata may refer to. */
export type Environment = Readonly<Record<string, string | undefined>>;

const PLACEHOLDER = /\{\{\s*([^{}\s]+)\s*\}\}/g;

/** What a text becomes, or the variables that it needs and that are not set. */
export type Filled = { readonly text: string } | { readonly missing: readonly string[] };

/** Puts the values of environment variables into a text. */
export function fillTemplate(template: string, environment: Environment): Filled {
  const missing = new Set<string>();
  const filled = template.replace(PLACEHOLDER, (_, name: string) => {
    const value = environment[name];
    if (value === undefined) missing.add(name);
    return value ?? '';
  });
  return missing.size === 0 ? { text: filled } : { missing: [...missing] };
}

/** A text as the metadata write it. */
export type ConfiguredText =
  /** May hold `{{NAME}}` of environment variables. */
  | { readonly kind: 'template'; readonly text: string }
  /** All of it is the value of an environment variable. */
  | { readonly kind: 'environment'; readonly name: string };

/** How it is refused that environment variables are not set. */
export type MissingVariables = (names: readonly string[]) => Error;

/** What messages say of variables that metadata name. */
export function variablesNotSet(names: readonly string[]): string {
  return names.map((name) => `environment variable '${name}' not set`).join(', ');
}

/** What messages say of variables of a template. */
export function variablesNotFound(names: readonly string[]): string {
  return `Value for environment variables not found: ${names.join(', ')}`;
}

/** `fillTemplate`. @throws what `missing` makes of variables that are not set */
export function filledTemplate(template: string, environment: Environment, missing: MissingVariables): string {
  const filled = fillTemplate(template, environment);
  if ('missing' in filled) throw missing(filled.missing);
  return filled.text;
}

/** The value of a variable. @throws what `missing` makes of it when it is not set */
export function environmentVariable(name: string, environment: Environment, missing: MissingVariables): string {
  const value = environment[name];
  if (value === undefined) throw missing([name]);
  return value;
}

/** A header that the service sends. */
export interface HeaderDefinition {
  readonly name: string;
  /** A template. */
  readonly value?: string | undefined;
  /** An environment variable that holds the value. */
  readonly valueFromEnv?: string | undefined;
}

const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Why no request can have such a header; null: nothing. Values may be secrets, and are not told. */
export function headerComplaint(name: string, value: string): string | null {
  if (!HEADER_NAME.test(name)) return `${JSON.stringify(name)} cannot be the name of a header`;
  return HEADER_VALUE.test(value) ? null : `the value of the header "${name}" has characters that no header can have`;
}

/** The service's own settings are not for sending: its secrets are among them. */
const OWN_SETTINGS = 'SVC_GRAPHQL_';

/** Whether metadata may not name the environment variable. */
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
  like(written, 'Either `value`, which is a template, or `value_from_env`.'),
);

export const headersCodec = list(headerCodec);

/** The key `headers` of what is called. */
export const webhookHeaders = listOrNone(headersCodec);

/** The value of a header. @throws what `missing` makes of variables that are not set */
export function configuredHeaderValue(
  { value = '', valueFromEnv }: HeaderDefinition,
  environment: Environment,
  missing: MissingVariables,
): string {
  return valueFromEnv === undefined ? filledTemplate(value, environment, missing) : environmentVariable(valueFromEnv, environment, missing);
}
