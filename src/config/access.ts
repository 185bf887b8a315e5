/** Rules for combinations of authentication options. */
import { ConfigError } from './config-error.ts';
import type { JwtSecret } from './jwt-secret.ts';
import type { Config } from './options.ts';

export type AccessConfig = Pick<
  Config,
  'adminSecret' | 'adminSecrets' | 'accessKey' | 'authHook' | 'jwtSecret' | 'jwtSecrets' | 'unauthorizedRole'
>;

/** All admin secrets; if there are none, every request has full access. */
export function adminSecretsOf({ adminSecrets, adminSecret, accessKey }: AccessConfig): readonly string[] {
  return adminSecrets ?? [adminSecret ?? accessKey].filter((secret) => secret !== null);
}

/** Empty if JWT mode is off. */
export function jwtSecretsOf({ jwtSecrets, jwtSecret }: AccessConfig): readonly JwtSecret[] {
  return jwtSecrets ?? (jwtSecret === null ? [] : [jwtSecret]);
}

const NEEDS_SECRET = 'requires --admin-secret (SVC_GRAPHQL_ADMIN_SECRET) or  --access-key (SVC_GRAPHQL_ACCESS_KEY) to be set';
const HOOK = '--auth-hook (SVC_GRAPHQL_AUTH_HOOK)';

/** @throws ConfigError for options that exclude each other, or that are unsafe without an admin secret */
export function checkAccess(config: AccessConfig): void {
  const isSecured = adminSecretsOf(config).length > 0;
  const hasHook = config.authHook !== null;
  const hasJwt = jwtSecretsOf(config).length > 0;
  if (hasHook && hasJwt) throw new ConfigError('Both webhook and JWT mode cannot be enabled at the same time');
  if (config.unauthorizedRole !== null && (hasHook || !isSecured)) {
    throw new ConfigError(`--unauthorized-role (SVC_GRAPHQL_UNAUTHORIZED_ROLE) ${NEEDS_SECRET} and is not allowed when ${HOOK} is set`);
  }
  if (isSecured) return;
  if (hasHook) throw ConfigError.complete(`Fatal Error : ${HOOK} ${NEEDS_SECRET}`);
  if (hasJwt) throw ConfigError.complete(`Fatal Error : --jwt-secret (SVC_GRAPHQL_JWT_SECRET) ${NEEDS_SECRET}`);
}
