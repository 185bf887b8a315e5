/** A GraphQL server as requests reach it. */
import { SvcError } from '../errors/svc-error.ts';
import { type Environment, fillTemplate, type HeaderDefinition } from '../metadata/environment-template.ts';
import type { RemoteAddress, RemoteSchemaDefinition } from '../metadata/remote-schema.ts';

export interface RemoteConnection {
  /** Of the remote schema. */
  readonly name: string;
  /** Its address as the metadata write it: what errors may show, for the URL may hold secrets. */
  readonly address: string;
  /** `http:` or `https:` */
  readonly url: string;
  /** Those that are configured; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** ms for one request */
  readonly timeout: number;
  readonly forwardClientHeaders: boolean;
}

/** @throws SvcError not-found for a variable that is not set, invalid-params for an address that is no URL */
export function remoteConnection(name: string, definition: RemoteSchemaDefinition, environment: Environment): RemoteConnection {
  const { address, headers, timeout, forwardClientHeaders } = definition;
  return {
    name,
    address: address.kind === 'url' ? address.url : `{{${address.variable}}}`,
    url: urlOf(address, environment),
    headers: Object.fromEntries(headers.map((header) => [header.name.toLowerCase(), headerValue(header, environment)])),
    timeout: timeout * 1000,
    forwardClientHeaders,
  };
}

function urlOf(address: RemoteAddress, environment: Environment): string {
  if (address.kind === 'url') {
    const url = filled(address.url, environment);
    if (!isUrl(url)) throw new SvcError('invalid-params', `not a valid URI generated from the template: ${address.url}`);
    return url;
  }
  const url = variable(address.variable, environment);
  if (!isUrl(url)) throw new SvcError('invalid-params', `not a valid URI in environment variable: ${address.variable}`);
  return url;
}

function isUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:\/\//i.test(text);
}

function headerValue({ value, valueFromEnv }: HeaderDefinition, environment: Environment): string {
  return valueFromEnv === undefined ? filled(value ?? '', environment) : variable(valueFromEnv, environment);
}

function filled(template: string, environment: Environment): string {
  const result = fillTemplate(template, environment);
  if ('text' in result) return result.text;
  throw new SvcError('not-found', result.missing.map((name) => `environment variable '${name}' not set`).join(', '));
}

function variable(name: string, environment: Environment): string {
  const value = environment[name];
  if (value === undefined) throw new SvcError('not-found', `environment variable '${name}' not set`);
  return value;
}
