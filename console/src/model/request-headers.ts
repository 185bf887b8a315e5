/** Headers of a GraphQL request: those of the persona, replaced by those written for the request. */
import { personaHeaders, type Persona } from './persona.ts';

export type HeaderFields = Readonly<Record<string, string>>;

export interface RequestHeaders {
  /** All headers except the secret of the console. */
  readonly headers: HeaderFields;
  /** True if the secret of the console is sent: never with a token or another secret. */
  readonly hasSecret: boolean;
  /** Role and session variables that the headers amount to. */
  readonly as: Persona;
}

const ROLE = 'x-svc-role';
const SECRET = 'x-svc-admin-secret';
const VARIABLE = /^x-svc-(.+)$/;

/** Renames headers with an alias of the session variable prefix, as the service does. */
export function withoutAliases(headers: HeaderFields, prefixes: readonly string[]): HeaderFields {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      const prefix = prefixes.find((each) => name.toLowerCase().startsWith(each.toLowerCase()));
      return [prefix === undefined ? name : `X-Svc-${name.slice(prefix.length)}`, value];
    }),
  );
}

/** @param custom headers written for the request @throws Error if `custom` has a header twice */
export function requestHeaders(persona: Persona, custom: HeaderFields = {}): RequestHeaders {
  const customByName = new Map<string, string>();
  for (const [name, value] of Object.entries(custom)) {
    if (customByName.has(name.toLowerCase())) throw new Error(`The header ${name} is set twice.`);
    customByName.set(name.toLowerCase(), value);
  }
  const authorization = customByName.get('authorization');
  // A token contains its role, so the role of the persona is not sent with it.
  const own = Object.entries(authorization === undefined ? personaHeaders(persona) : {}).filter(
    ([name]) => !customByName.has(name.toLowerCase()),
  );
  const headers = { ...Object.fromEntries(own), ...custom };
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
    hasSecret: token === undefined && !customByName.has(SECRET),
    as: { role, variables, ...(token === undefined ? {} : { token }) },
  };
}

/** Removes the headers that identify the caller, for a comparison with another persona. */
export function withoutIdentity(headers: HeaderFields): HeaderFields {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => ![ROLE, 'authorization'].includes(name.toLowerCase())));
}
