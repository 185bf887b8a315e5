/** URL, headers and timeout of a GraphQL server, resolved for requests. */
import { SvcError } from '../../errors/svc-error.ts';
import {
  type ConfiguredText,
  type EnvironmentVariables,
  type MissingVariable,
  SET_VARIABLES,
  variablesNotSet,
} from '../../metadata/environment-template.ts';
import type { RemoteSchemaDefinition } from '../../metadata/remote-schema.ts';
import { isWebUrl } from '../../util/web-url.ts';
import { configuredHeaders, configuredUrl } from '../../webhooks/configured.ts';

export interface RemoteConnection {
  /** Name of the remote schema. */
  readonly name: string;
  /** The URL as written in the metadata, without user, password and query. Errors show it, because the resolved URL may contain secrets. */
  readonly address: string;
  /** `http:` or `https:` */
  readonly url: string;
  /** Configured headers; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Timeout for one request, in ms. */
  readonly timeout: number;
  readonly forwardClientHeaders: boolean;
}

/** @throws SvcError not-found for a variable that is not set, invalid-params for an address that is not a URL */
export function remoteConnection(name: string, definition: RemoteSchemaDefinition, environment: EnvironmentVariables): RemoteConnection {
  const { address, headers, timeout, forwardClientHeaders } = definition;
  return {
    name,
    address: address.kind === 'template' ? redacted(address.text) : `{{${address.name}}}`,
    url: urlOf(address, environment),
    headers: configuredHeaders(headers, environment, missing),
    timeout: timeout * 1000,
    forwardClientHeaders,
  };
}

/** Removes the secret parts of a URL template. @param template may contain `{{NAME}}` */
function redacted(template: string): string {
  return template.replace(/^(\w+:\/\/)[^/?#]*@/, '$1').replace(/[?#].*$/s, (rest) => (rest.startsWith('?') ? '?***' : ''));
}

function urlOf(address: ConfiguredText, environment: EnvironmentVariables): string {
  const url = configuredUrl(address, environment, missing);
  if (isWebUrl(url)) return url;
  const where = address.kind === 'template' ? `generated from the template: ${address.text}` : `in environment variable: ${address.name}`;
  throw new SvcError('invalid-params', `not a valid URI ${where}`);
}

function missing(variables: readonly MissingVariable[]): SvcError {
  return new SvcError('not-found', variablesNotSet(variables), { remedies: [SET_VARIABLES] });
}
