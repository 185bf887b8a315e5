/** Texts with `{{NAME}}` for environment variables, and headers whose values may be such texts. */
import { type Codec, leaf, list, listOrNone, nonEmptyText, object, optional, parseFailed, required, text } from './codec.ts';

/** Variables that the metadata may refer to. */
export type Environment = Readonly<Record<string, string | undefined>>;

const PLACEHOLDER = /\{\{\s*([^{}\s]+)\s*\}\}/g;

/** What a text becomes, or the variables that it needs and that are not set. */
export type Filled = { readonly text: string } | { readonly missing: readonly string[] };

export function fillTemplate(template: string, environment: Environment): Filled {
  const missing = new Set<string>();
  const filled = template.replace(PLACEHOLDER, (_, name: string) => {
    const value = environment[name];
    if (value === undefined) missing.add(name);
    return value ?? '';
  });
  return missing.size === 0 ? { text: filled } : { missing: [...missing] };
}

/** A header that the service sends. */
export interface HeaderDefinition {
  readonly name: string;
  /** A template. */
  readonly value?: string | undefined;
  /** An environment variable that holds the value. */
  readonly valueFromEnv?: string | undefined;
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
);

export const headersCodec = list(headerCodec);

/** The key `headers` of what is called. */
export const webhookHeaders = listOrNone(headersCodec);
