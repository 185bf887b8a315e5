/**
 * Other prefixes of session variables, for clients, tokens, webhooks and SQL that come from another service. Names under such a prefix
 * are read as names under our own, and output has both. All code in between uses our own names only.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { Authenticated } from './credentials.ts';
import type { Authenticator } from './authenticate.ts';
import type { Session } from './session.ts';

const OWN_PREFIX = 'x-svc-';

/** In lower case, e.g. `x-hasura-`. */
export type PrefixAliases = readonly string[];

/** Default namespace of the claims of the other service's tokens, by prefix. */
const NAMESPACES: Readonly<Record<string, string>> = { 'x-hasura-': 'https://hasura.io/jwt/claims' };

/** Returns the default namespaces of claims for the aliases. */
export function aliasNamespaces(aliases: PrefixAliases): readonly string[] {
  return aliases.flatMap((alias) => NAMESPACES[alias] ?? []);
}

/** Returns the name under our prefix for a name in lower case. */
export function ownName(name: string, aliases: PrefixAliases): string {
  const alias = aliases.find((each) => name.startsWith(each));
  return alias === undefined ? name : OWN_PREFIX + name.slice(alias.length);
}

/**
 * Renames headers in place: one left under another prefix could be forwarded as if it had been checked. A header under our own name
 * takes precedence.
 */
function renameHeaders(headers: IncomingHttpHeaders, aliases: PrefixAliases): void {
  for (const name of Object.keys(headers)) {
    const own = ownName(name, aliases);
    if (own === name) continue;
    headers[own] ??= headers[name];
    delete headers[name];
  }
}

/** Returns the session with its variables under all prefixes. */
function withAliases(session: Session, aliases: PrefixAliases): Session {
  const variables = new Map(session.variables);
  for (const [name, value] of session.variables) {
    for (const alias of aliases) variables.set(alias + name.slice(OWN_PREFIX.length), value);
  }
  return { ...session, variables, settingPrefixes: aliases.map((alias) => alias.slice('x-'.length, -1)) };
}

/** Wraps an authenticator: its requests and sessions may use session variables under other prefixes, too. */
export function aliasedAuthenticator(inner: Authenticator, aliases: PrefixAliases): Authenticator {
  if (aliases.length === 0) return inner;
  // Later stages derive data from a session object once, so each session must map to one object.
  const cache = new WeakMap<Session, Session>();
  const aliased = (session: Session): Session => {
    let result = cache.get(session);
    if (result === undefined) {
      result = withAliases(session, aliases);
      cache.set(session, result);
    }
    return result;
  };
  return {
    authenticate(request, graphql, client) {
      renameHeaders(request.headers, aliases);
      const found = inner.authenticate(request, graphql, client);
      if (!(found instanceof Promise)) return aliased(found);
      return found.then((authenticated): Authenticated => ({ ...authenticated, session: aliased(authenticated.session) }));
    },
    adminRemedy(headers) {
      renameHeaders(headers, aliases);
      return inner.adminRemedy(headers);
    },
    method(headers) {
      renameHeaders(headers, aliases);
      return inner.method(headers);
    },
    place(headers) {
      renameHeaders(headers, aliases);
      return inner.place(headers);
    },
    identityHeaders(sent) {
      const found = inner.identityHeaders(sent === null ? null : [...sent].map((name) => ownName(name, aliases)));
      const aliased = found.flatMap((name) =>
        name.startsWith(OWN_PREFIX) ? aliases.map((alias) => alias + name.slice(OWN_PREFIX.length)) : [],
      );
      return [...found, ...aliased];
    },
    stop: () => inner.stop(),
  };
}
