/**
 * Turns a request into a session. Without admin secrets, every request is trusted. Otherwise the first of these that applies decides: an
 * admin secret in the request, the webhook or the tokens, the unauthorized role.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { CREDENTIAL_CODES } from '../errors/codes.ts';
import { SvcError } from '../errors/svc-error.ts';
import type {
  Authenticated,
  AuthenticationMethod,
  ClientPresence,
  CredentialCheck,
  CredentialPlace,
  GraphqlPayload,
  RequestHead,
} from './credentials.ts';
import type { Session } from './session.ts';
import { headerValue, ROLE_VARIABLE, SECRET_HEADERS } from './session-variables.ts';
import { trustedSession, unauthorizedSession } from './trusted-session.ts';

export interface Authenticator {
  /**
   * Returns the session synchronously unless the webhook or a token has to be checked.
   * @param graphql the GraphQL request, `null` on other endpoints
   * @throws SvcError synchronously or as a rejection
   */
  authenticate(request: RequestHead, graphql: GraphqlPayload | null, client: ClientPresence): Session | Promise<Authenticated>;
  /**
   * Returns what a client that is not an administrator can do to become one.
   * @param headers of a request that was authenticated
   */
  adminRemedy(headers: IncomingHttpHeaders): AdminRemedy;
  /** Returns how the client of an accepted request has authenticated. */
  method(headers: IncomingHttpHeaders): AuthenticationMethod;
  /** Returns the location of the credentials that `authenticate` will use, without reading or calling anything. */
  place(headers: IncomingHttpHeaders): CredentialPlace;
  /**
   * Returns the headers that identify the client, for `Vary`: the standard ones, and session variables among `sent`.
   * @param sent names in lower case; `null` for an answer that is the same for all clients without credentials
   * @returns names in lower case; `*` alone if any header may matter
   */
  identityHeaders(sent: Iterable<string> | null): readonly string[];
  /** Stops background work. */
  stop(): void;
}

export interface AuthenticatorOptions {
  /** Empty for open mode. */
  readonly adminSecrets: readonly string[];
  readonly unauthorizedRole?: string | null;
  /** Check of the webhook or of tokens. */
  readonly credentials?: CredentialCheck | null;
}

const ADMIN_SECRET = 'X-Svc-Admin-Secret';

/** Failures of the webhook and malformed headers have other codes. */
function isAboutCredentials({ code }: SvcError): boolean {
  return code === 'access-denied' || CREDENTIAL_CODES.has(code);
}

export interface AdminRemedy {
  readonly text: string;
  /** The client was trusted, and chose another role than admin. */
  readonly isTrusted: boolean;
}

/** Headers of credentials, which remote servers may read even if the service does not. */
const CREDENTIAL_HEADERS: readonly string[] = ['authorization', 'cookie'];

function digest(secret: string): Buffer {
  return createHash('sha512').update(secret).digest();
}

function isOneOf(digests: readonly Buffer[], secret: string): boolean {
  const hash = digest(secret);
  // Compares with every secret, so that the time does not reveal which one was close.
  let matches = false;
  for (const expected of digests) matches = timingSafeEqual(hash, expected) || matches;
  return matches;
}

export function createAuthenticator({ adminSecrets, unauthorizedRole = null, credentials = null }: AuthenticatorOptions): Authenticator {
  const digests = adminSecrets.map(digest);
  const hasSecret = (headers: IncomingHttpHeaders): boolean => SECRET_HEADERS.some((name) => headers[name] !== undefined);
  // Short enough for the reason with which a websocket is closed.
  const remedies = [
    credentials === null ? `Send the admin secret of the service as ${ADMIN_SECRET}.` : `Send ${credentials.accepted}, or ${ADMIN_SECRET}.`,
  ];
  const withRemedies = (error: unknown): unknown =>
    error instanceof SvcError && isAboutCredentials(error) ? error.withRemedies(remedies) : error;
  const identified = (...[request, graphql, client]: Parameters<Authenticator['authenticate']>): Session | Promise<Authenticated> => {
    const { headers } = request;
    if (digests.length === 0) return trustedSession(headers);
    const secret = headerValue(headers, SECRET_HEADERS[0]) ?? headerValue(headers, SECRET_HEADERS[1]);
    if (secret !== undefined) {
      if (isOneOf(digests, secret)) return trustedSession(headers);
      throw secretWrong(credentials, unauthorizedRole !== null);
    }
    const checked = credentials?.check(request, graphql, client) ?? null;
    if (checked !== null)
      return checked.catch((error: unknown) => {
        throw withRemedies(error);
      });
    if (unauthorizedRole !== null) return unauthorizedSession(headers, unauthorizedRole);
    throw credentials?.missing() ?? secretMissing();
  };
  return {
    authenticate(...request) {
      try {
        return identified(...request);
      } catch (error) {
        throw withRemedies(error);
      }
    },
    adminRemedy(headers) {
      return digests.length === 0 || hasSecret(headers)
        ? { text: 'Leave the header X-Svc-Role out, or send the role admin in it.', isTrusted: true }
        : { text: `Send the admin secret of the service as ${ADMIN_SECRET}.`, isTrusted: false };
    },
    method(headers) {
      if (digests.length === 0) return 'none';
      return hasSecret(headers) ? 'admin-secret' : (credentials?.kind ?? 'none');
    },
    place(headers) {
      if (digests.length === 0) return 'open';
      if (hasSecret(headers)) return 'header';
      return credentials?.place(headers) ?? 'none';
    },
    identityHeaders(sent) {
      const { headers: others = [] } = credentials ?? {};
      if (others === '*') return ['*'];
      const read = sent === null ? CREDENTIAL_HEADERS.filter((name) => others.includes(name)) : CREDENTIAL_HEADERS;
      const own = [...(sent ?? [])].filter((name) => name.startsWith('x-svc-'));
      return [...new Set([...read, ...SECRET_HEADERS, ROLE_VARIABLE, ...others, ...own])];
    },
    stop() {
      credentials?.stop();
    },
  };
}

/** A wrong secret is not ignored, so clients with other credentials must not send one. */
function secretWrong(credentials: CredentialCheck | null, hasUnauthorizedRole: boolean): SvcError {
  const without =
    credentials !== null
      ? [`Without ${ADMIN_SECRET}, other credentials decide.`]
      : hasUnauthorizedRole
        ? [`Without ${ADMIN_SECRET}, the request has the unauthorized role.`]
        : [];
  return new SvcError('access-denied', 'invalid "x-svc-admin-secret"/"x-svc-access-key"', { status: 401, remedies: without });
}

function secretMissing(): SvcError {
  return new SvcError('access-denied', 'x-svc-admin-secret/x-svc-access-key required, but not found', { status: 401 });
}
