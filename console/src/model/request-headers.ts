/** Headers of a GraphQL request: those of the persona, and those that are written for the request, which replace them. */
import { headersOf, type Persona } from './persona.ts';

export type HeaderFields = Readonly<Record<string, string>>;

export interface RequestHeaders {
  /** All but the secret of the console. */
  readonly headers: HeaderFields;
  /** Whether the secret of the console is sent: not beside a token or another secret. */
  readonly hasSecret: boolean;
  /** The role and variables that the headers amount to. */
  readonly as: Persona;
}

const ROLE = 'x-svc-role';
const SECRET = 'x-svc-admin-secret';
const VARIABLE = /^x-svc-(.+)$/;

/** Renames headers with another prefix of session variables, as the service does before it reads them. */
export function withoutAliases(given: HeaderFields, prefixes: readonly string[]): HeaderFields {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const prefix = prefixes.find((each) => name.toLowerCase().startsWith(each.toLowerCase()));
      return [prefix === undefined ? name : `X-Svc-${name.slice(prefix.length)}`, value];
    }),
  );
}

/** @throws Error if `given` has a header twice */
export function requestHeaders(persona: Persona, given: HeaderFields = {}): RequestHeaders {
  const written = new Map<string, string>();
  for (const [name, value] of Object.entries(given)) {
    if (written.has(name.toLowerCase())) throw new Error(`The header ${name} is given twice.`);
    written.set(name.toLowerCase(), value);
  }
  const authorization = written.get('authorization');
  // A token names its role, so the role of the persona is not sent with it.
  const own = Object.entries(authorization === undefined ? headersOf(persona) : {}).filter(([name]) => !written.has(name.toLowerCase()));
  const headers = { ...Object.fromEntries(own), ...given };
  const token = authorization?.replace(/^bearer /i, '') ?? persona.token;
  const variables: Record<string, string> = {};
  let role = token === undefined ? 'admin' : '';
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    const variable = VARIABLE.exec(lower)?.[1];
    if (lower === ROLE) role = value;
    else if (variable !== undefined && lower !== SECRET) variables[variable] = value;
  }
  return {
    headers,
    hasSecret: token === undefined && !written.has(SECRET),
    as: { role, variables, ...(token === undefined ? {} : { token }) },
  };
}

/** The headers without those that say who the request is from, for a comparison with another persona. */
export function withoutIdentity(given: HeaderFields): HeaderFields {
  return Object.fromEntries(Object.entries(given).filter(([name]) => ![ROLE, 'authorization'].includes(name.toLowerCase())));
}
