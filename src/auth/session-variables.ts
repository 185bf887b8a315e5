import type { IncomingHttpHeaders } from 'node:http';

export const ROLE_VARIABLE = 'x-svc-role';
export const SECRET_HEADERS = ['x-svc-admin-secret', 'x-svc-access-key'] as const;
export const BACKEND_ONLY_HEADER = 'x-svc-use-backend-only-permissions';

/** Returns true for a lower-case name that has the prefix and is neither a secret nor a control header. */
export function isSessionVariable(name: string): boolean {
  return name.startsWith('x-svc-') && name !== SECRET_HEADERS[0] && name !== SECRET_HEADERS[1] && name !== BACKEND_ONLY_HEADER;
}

/** Characters that databases cannot store in a text. Headers cannot contain them, JSON can. */
const NO_TEXT = /[\0\p{Surrogate}]/u;

/** Returns true if every database can store the value as a text. */
export function isStorableText(value: string): boolean {
  return !NO_TEXT.test(value);
}

/** Returns the value of a header, the first one if there are several. */
export function headerValue(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Returns the role that the client requests, `undefined` if none. */
export function requestedRole(headers: IncomingHttpHeaders): string | undefined {
  const role = headerValue(headers, ROLE_VARIABLE);
  return role === '' ? undefined : role;
}

/** Returns the session variables among the headers, without the role. */
export function variablesOfHeaders(headers: IncomingHttpHeaders): Map<string, string> {
  const variables = new Map<string, string>();
  for (const name in headers) {
    if (isSessionVariable(name) && name !== ROLE_VARIABLE) variables.set(name, headerValue(headers, name) as string);
  }
  return variables;
}
