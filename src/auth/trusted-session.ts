import type { IncomingHttpHeaders } from 'node:http';
import { SvcError } from '../errors/svc-error.ts';
import { ADMIN_ROLE, type Session } from './session.ts';
import { BACKEND_ONLY_HEADER, headerValue, requestedRole, ROLE_VARIABLE, variablesOfHeaders } from './session-variables.ts';

const TRUE_TEXTS: ReadonlySet<string> = new Set(['true', 't', 'yes', 'y']);
const FALSE_TEXTS: ReadonlySet<string> = new Set(['false', 'f', 'no', 'n']);

/** One object for all administrators without variables: data derived from a session is derived once per object. */
const PLAIN_ADMIN: Session = { role: ADMIN_ROLE, variables: new Map([[ROLE_VARIABLE, ADMIN_ROLE]]), backendOnly: false };

/**
 * Returns the session of a trusted request: any role, all `x-svc-*` headers except the secrets.
 * @throws SvcError bad-request if the header about backend permissions is not a boolean
 */
export function trustedSession(headers: IncomingHttpHeaders): Session {
  const role = requestedRole(headers) ?? ADMIN_ROLE;
  const variables = variablesOfHeaders(headers);
  const forBackend = backendOnly(headers);
  if (variables.size === 0 && role === ADMIN_ROLE && !forBackend) return PLAIN_ADMIN;
  variables.set(ROLE_VARIABLE, role);
  return { role, variables, backendOnly: forBackend };
}

/** Returns the session of a request without credentials; a requested role is ignored. */
export function unauthorizedSession(headers: IncomingHttpHeaders, role: string): Session {
  const variables = variablesOfHeaders(headers);
  variables.set(ROLE_VARIABLE, role);
  return { role, variables, backendOnly: false };
}

function backendOnly(headers: IncomingHttpHeaders): boolean {
  const value = headerValue(headers, BACKEND_ONLY_HEADER);
  if (value === undefined) return false;
  const lower = value.toLowerCase();
  if (TRUE_TEXTS.has(lower)) return true;
  if (FALSE_TEXTS.has(lower)) return false;
  throw new SvcError(
    'bad-request',
    `"${BACKEND_ONLY_HEADER}":  Not a valid boolean text. True values are ["true","t","yes","y"] and  False values are ["false","f","no","n"]. All values are case insensitive`,
  );
}
