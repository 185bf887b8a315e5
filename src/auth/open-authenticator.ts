import type { HookMethod } from '../config/option-types.ts';
import type { JwtSecret } from '../config/jwt-secret.ts';
import type { Observer } from '../observability/observation.ts';
import type { OutboundClient } from '../http-client/client.ts';
import { type Authenticator, createAuthenticator } from './authenticate.ts';
import type { CredentialCheck } from './credentials.ts';
import { openJwtCheck } from './jwt/jwt.ts';
import type { KeySetTiming } from './jwt/key-set.ts';
import { aliasedAuthenticator, type PrefixAliases } from './prefix-aliases.ts';
import { createWebhookCheck } from './webhook/webhook.ts';

/** Options of authentication; their combination has been validated. */
export interface AccessOptions {
  /** Empty for open mode; then nothing else is set. */
  readonly adminSecrets: readonly string[];
  readonly unauthorizedRole: string | null;
  readonly webhook: { readonly url: string; readonly method: HookMethod; readonly sendRequestBody: boolean } | null;
  /** Empty if JWT mode is off. */
  readonly jwtSecrets: readonly JwtSecret[];
  readonly keySetTiming?: KeySetTiming;
  /** Other prefixes of session variables. Defaults to none. */
  readonly prefixAliases?: PrefixAliases;
}

/**
 * Combines the configured modes; with a `jwk_url` it waits for the keys.
 * @throws ConfigError if no keys can be fetched
 */
export async function openAuthenticator(access: AccessOptions, outbound: OutboundClient, observe: Observer): Promise<Authenticator> {
  const { adminSecrets, unauthorizedRole } = access;
  const inner = createAuthenticator({ adminSecrets, unauthorizedRole, credentials: await openCheck(access, outbound, observe) });
  return aliasedAuthenticator(inner, access.prefixAliases ?? []);
}

async function openCheck(access: AccessOptions, outbound: OutboundClient, observe: Observer): Promise<CredentialCheck | null> {
  const { webhook, jwtSecrets: secrets, keySetTiming, prefixAliases = [] } = access;
  if (webhook !== null) return createWebhookCheck({ ...webhook, outbound, observe, prefixAliases });
  if (secrets.length === 0) return null;
  return openJwtCheck({ secrets, outbound, observe, prefixAliases, ...(keySetTiming === undefined ? {} : { keySetTiming }) });
}
