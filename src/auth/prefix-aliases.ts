/**
 * Other prefixes of session variables, for clients, tokens, webhooks and SQL that come from another service: what comes in under one
 * of them counts as if it had come under our own, and what goes out says both. Everything between knows our own names only.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Authenticated } from './credentials.ts';
import type { Authenticator } from './authenticate.ts';
import type { Session } from './session.ts';

const OWN = 'x-svc-';

/** In lower case: `x-hasura-`. */
export type PrefixAliases = readonly string[];

/** Where tokens of the other service have their claims, unless it is told otherwise. */
const NAMESPACES: Readonly<Record<string, string>> = { 'x-hasura-': 'https://hasura.io/jwt/claims' };

/** The namespaces of claims that go with the aliases. */
export function aliasNamespaces(aliases: PrefixAliases): readonly string[] {
  return aliases.flatMap((alias) => NAMESPACES[alias] ?? []);
}

/** The name under our prefix of a name in lower case. */
export function ownName(name: string, aliases: PrefixAliases): string {
  const alias = aliases.find((each) => name.startsWith(each));
  return alias === undefined ? name : OWN + name.slice(alias.length);
}

/**
 * Renames headers in place: what is left under another prefix could be forwarded as if it had been checked. A header under our own name
 * wins.
 */
function renameHeaders(headers: IncomingHttpHeaders, aliases: PrefixAliases): void {
  for (const name of Object.keys(headers)) {
    const own = ownName(name, aliases);
    if (own === name) continue;
    headers[own] ??= headers[name];
    delete headers[name];
  }
}

/** The session with its variables under all names. */
function withAliases(session: Session, aliases: PrefixAliases): Session {
  const variables = new Map(session.variables);
  for (const [name, value] of session.variables) for (const alias of aliases) variables.set(alias + name.slice(OWN.length), value);
  return { ...session, variables, settingPrefixes: aliases.map((alias) => alias.slice('x-'.length, -1)) };
}

/** An authenticator whose sessions and requests may speak of session variables under other prefixes too. */
export function aliasedAuthenticator(inner: Authenticator, aliases: PrefixAliases): Authenticator {
  if (aliases.length === 0) return inner;
  // What is derived from a session is derived once.
  const known = new WeakMap<Session, Session>();
  const aliased = (session: Session): Session => {
    let made = known.get(session);
    if (made === undefined) {
      made = withAliases(session, aliases);
      known.set(session, made);
    }
    return made;
  };
  return {
    authenticate(request, graphql, client) {
      renameHeaders(request.headers, aliases);
      const found = inner.authenticate(request, graphql, client);
      if (!(found instanceof Promise)) return aliased(found);
      return found.then((authenticated): Authenticated => ({ ...authenticated, session: aliased(authenticated.session) }));
    },
    place(headers) {
      renameHeaders(headers, aliases);
      return inner.place(headers);
    },
    askers(sent) {
      const names = [...sent];
      const found = inner.askers(names.map((name) => ownName(name, aliases)));
      // What came under another prefix is told as it came; what may come, under all of them.
      const alike = found.flatMap((name) => (name.startsWith(OWN) ? aliases.map((alias) => alias + name.slice(OWN.length)) : []));
      return [...found, ...alike];
    },
    stop: () => inner.stop(),
  };
}
