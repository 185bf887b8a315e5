/** A GraphQL server as requests reach it. */
import { SvcError } from '../../errors/svc-error.ts';
import { type ConfiguredText, type Environment, variablesNotSet } from '../../metadata/environment-template.ts';
import type { RemoteSchemaDefinition } from '../../metadata/remote-schema.ts';
import { isWebUrl } from '../../util/web-url.ts';
import { configuredHeaders, configuredUrl } from '../../webhooks/configured.ts';

export interface RemoteConnection {
  /** Of the remote schema. */
  readonly name: string;
  /** Its address as the metadata write it, without user, password and query: what errors may show, for the URL may hold secrets. */
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
    address: address.kind === 'template' ? shown(address.text) : `{{${address.name}}}`,
    url: urlOf(address, environment),
    headers: configuredHeaders(headers, environment, missing),
    timeout: timeout * 1000,
    forwardClientHeaders,
  };
}

/** @param template which may hold `{{NAME}}` */
function shown(template: string): string {
  return template.replace(/^(\w+:\/\/)[^/?#]*@/, '$1').replace(/[?#].*$/s, (rest) => (rest.startsWith('?') ? '?***' : ''));
}

function urlOf(address: ConfiguredText, environment: Environment): string {
  const url = configuredUrl(address, environment, missing);
  if (isWebUrl(url)) return url;
  const where = address.kind === 'template' ? `generated from the template: ${address.text}` : `in environment variable: ${address.name}`;
  throw new SvcError('invalid-params', `not a valid URI ${where}`);
}

function missing(names: readonly string[]): SvcError {
  return new SvcError('not-found', variablesNotSet(names));
}
