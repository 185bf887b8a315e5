import type { IncomingHttpHeaders } from 'node:http';

export const ROLE_VARIABLE = 'x-svc-role';
export const SECRET_HEADERS = ['x-svc-admin-secret', 'x-svc-access-key'] as const;
export const BACKEND_ONLY_HEADER = 'x-svc-use-backend-only-permissions';

/** Whether a name in lower case is a session variable: it has the prefix and neither is a secret nor steers the service. */
export function isSessionVariable(name: string): boolean {
  return name.startsWith('x-svc-') && name !== SECRET_HEADERS[0] && name !== SECRET_HEADERS[1] && name !== BACKEND_ONLY_HEADER;
}

/** What no database can hold in a text; headers cannot have it, JSON can. */
const NO_TEXT = /[\0\p{Surrogate}]/u;

/** Whether the databases take it as a text. */
export function isStorableText(value: string): boolean {
  return !NO_TEXT.test(value);
}

/** The value of a header; the first one when there are several. */
export function headerValue(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** The role that the client asks for; undefined when it asks for none. */
export function requestedRole(headers: IncomingHttpHeaders): string | undefined {
  const role = headerValue(headers, ROLE_VARIABLE);
  return role === '' ? undefined : role;
}

/** All session variables among the headers, the role left out. */
export function variablesOfHeaders(headers: IncomingHttpHeaders): Map<string, string> {
  const variables = new Map<string, string>();
  for (const name in headers) {
    if (isSessionVariable(name) && name !== ROLE_VARIABLE) variables.set(name, headerValue(headers, name) as string);
  }
  return variables;
}
