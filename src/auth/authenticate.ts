/**
 * Request headers -> session. Modes: open (nothing configured: everybody is admin unless another
 * role is asked for) and admin secret.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { SvcError } from '../errors/svc-error.ts';
import { ADMIN_ROLE, type Session } from './session.ts';

export interface Authenticator {
  /** @throws SvcError access-denied (status 401) */
  authenticate(headers: IncomingHttpHeaders): Session;
}

const SECRET_HEADERS = ['x-svc-admin-secret', 'x-svc-access-key'] as const;
const BACKEND_ONLY_HEADER = 'x-svc-use-backend-only-permissions';
const TRUE_TEXTS: ReadonlySet<string> = new Set(['true', 't', 'yes', 'y']);
const FALSE_TEXTS: ReadonlySet<string> = new Set(['false', 'f', 'no', 'n']);

function digest(secret: string): Buffer {
  return createHash('sha512').update(secret).digest();
}

function header(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function backendOnly(headers: IncomingHttpHeaders): boolean {
  const value = header(headers, BACKEND_ONLY_HEADER);
  if (value === undefined) return false;
  const lower = value.toLowerCase();
  if (TRUE_TEXTS.has(lower)) return true;
  if (FALSE_TEXTS.has(lower)) return false;
  throw new SvcError(
    'bad-request',
    'x-svc-use-backend-only-permissions:  Not a valid boolean text. True values are ["true","t","yes","y"] and  False values are ["false","f","no","n"]. All values are case insensitive',
  );
}

/** The session of a trusted request: any role, all `x-svc-*` headers but the secrets. */
function trustedSession(headers: IncomingHttpHeaders): Session {
  let role = ADMIN_ROLE;
  const variables = new Map<string, string>();
  for (const name in headers) {
    if (!name.startsWith('x-svc-') || name === SECRET_HEADERS[0] || name === SECRET_HEADERS[1] || name === BACKEND_ONLY_HEADER) continue;
    const value = header(headers, name) as string;
    if (name === 'x-svc-role') {
      if (value !== '') role = value;
    } else variables.set(name, value);
  }
  variables.set('x-svc-role', role);
  return { role, variables, backendOnly: backendOnly(headers) };
}

/** @param adminSecrets empty: open mode */
export function createAuthenticator(adminSecrets: readonly string[]): Authenticator {
  const digests = adminSecrets.map(digest);
  return {
    authenticate(headers) {
      if (digests.length === 0) return trustedSession(headers);
      const given = header(headers, SECRET_HEADERS[0]) ?? header(headers, SECRET_HEADERS[1]);
      if (given === undefined) {
        throw new SvcError('access-denied', 'x-svc-admin-secret/x-svc-access-key required, but not found', { status: 401 });
      }
      const hash = digest(given);
      // Every secret is compared, so that the time does not tell which one came close.
      let known = false;
      for (const expected of digests) known = timingSafeEqual(hash, expected) || known;
      if (!known) throw new SvcError('access-denied', 'invalid "x-svc-admin-secret"/"x-svc-access-key"', { status: 401 });
      return trustedSession(headers);
    },
  };
}
