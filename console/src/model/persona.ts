/** Identity that the console acts as: a role with session variables, or a token. */
export interface Persona {
  readonly role: string;
  /** Names in lower case without `x-svc-`. */
  readonly variables: Readonly<Record<string, string>>;
  /** JWT that is sent instead of the admin secret. */
  readonly token?: string;
}

export const ADMIN: Persona = { role: 'admin', variables: {} };

export function isAdmin({ role, token }: Persona): boolean {
  return role === 'admin' && token === undefined;
}

export function personaHeaders({ role, variables, token }: Persona): Record<string, string> {
  if (token !== undefined) return { Authorization: `Bearer ${token}`, ...(role === '' ? {} : { 'X-Svc-Role': role }) };
  const headers: Record<string, string> = { 'X-Svc-Role': role };
  for (const [name, value] of Object.entries(variables)) headers[`X-Svc-${name}`] = value;
  return headers;
}

/** Session variables for `explain`. */
export function sessionOf({ role, variables }: Persona): Record<string, string> {
  return {
    'x-svc-role': role,
    ...Object.fromEntries(Object.entries(variables).map(([name, value]) => [`x-svc-${name.toLowerCase()}`, value])),
  };
}

export function personaLabel(persona: Persona): string {
  const { role, variables, token } = persona;
  if (token !== undefined) return `token${role === '' ? '' : ` as ${role}`}`;
  const values = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  return [role, ...values].join(' ');
}

/** Names of session variables in JSON text of metadata, in lower case without `x-svc-`. */
export function sessionVariablesIn(text: string): string[] {
  const names = [...text.matchAll(/"x-svc-([a-z0-9-_]+)"/gi)].map(([, name]) => (name ?? '').toLowerCase());
  return [...new Set(names)].filter((name) => name !== 'role').sort();
}

/** Header of a session variable: `X-Svc-User-Id`. */
export function variableHeader(name: string): string {
  return `X-Svc-${name
    .split('-')
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('-')}`;
}

/** Prints the claims of a JWT without verifying it; undefined if the token is not a JWT. */
export function claimsOf(token: string): string | undefined {
  const [, middle] = token.split('.');
  if (middle === undefined) return undefined;
  try {
    const bytes = Uint8Array.from(atob(middle.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0));
    return JSON.stringify(JSON.parse(new TextDecoder().decode(bytes)), null, 2);
  } catch {
    return undefined;
  }
}
