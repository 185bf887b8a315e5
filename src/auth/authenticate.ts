/**
 * Request -> session. The order: nothing configured, everybody is trusted; an admin secret that is sent decides
 * alone; then the webhook or the tokens; then the unauthorized role.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { SvcError } from '../errors/svc-error.ts';
import type { Authenticated, ClientPresence, CredentialCheck, CredentialPlace, GraphqlPayload, RequestHead } from './credentials.ts';
import type { Session } from './session.ts';
import { headerValue, ROLE_VARIABLE, SECRET_HEADERS } from './session-variables.ts';
import { trustedSession, unauthorizedSession } from './trusted-session.ts';

export interface Authenticator {
  /**
   * Gives the session at once where nobody has to be asked.
   * @param graphql the GraphQL request, null on other endpoints
   * @throws SvcError at once or later
   */
  authenticate(request: RequestHead, graphql: GraphqlPayload | null, client: ClientPresence): Session | Promise<Authenticated>;
  /** Where the credentials are that `authenticate` will use: known before anything is read or asked. */
  place(headers: IncomingHttpHeaders): CredentialPlace;
  /**
   * The headers that say who asks, for `Vary`: those that may, and of the others those that were sent.
   * @param sent names in lower case, as they came
   * @returns names in lower case; `*` alone: there is no telling
   */
  askers(sent: Iterable<string>): readonly string[];
  /** Ends what runs in the background. */
  stop(): void;
}

export interface AuthenticatorOptions {
  /** Empty: open mode. */
  readonly adminSecrets: readonly string[];
  readonly unauthorizedRole?: string | null;
  /** Webhook or tokens. */
  readonly credentials?: CredentialCheck | null;
}

/** Whatever is configured. */
const ASKERS = ['authorization', 'cookie', SECRET_HEADERS[0], ROLE_VARIABLE] as const;

function digest(secret: string): Buffer {
  return createHash('sha512').update(secret).digest();
}

export function createAuthenticator({ adminSecrets, unauthorizedRole = null, credentials = null }: AuthenticatorOptions): Authenticator {
  const digests = adminSecrets.map(digest);
  const isAdminSecret = (given: string): boolean => {
    const hash = digest(given);
    // Every secret is compared, so that the time does not tell which one came close.
    let known = false;
    for (const expected of digests) known = timingSafeEqual(hash, expected) || known;
    return known;
  };
  return {
    authenticate(request, graphql, client) {
      const { headers } = request;
      if (digests.length === 0) return trustedSession(headers);
      const given = headerValue(headers, SECRET_HEADERS[0]) ?? headerValue(headers, SECRET_HEADERS[1]);
      if (given !== undefined) {
        if (isAdminSecret(given)) return trustedSession(headers);
        throw new SvcError('access-denied', 'invalid "x-svc-admin-secret"/"x-svc-access-key"', { status: 401 });
      }
      const checked = credentials?.check(request, graphql, client) ?? null;
      if (checked !== null) return checked;
      if (unauthorizedRole !== null) return unauthorizedSession(headers, unauthorizedRole);
      throw credentials?.missing() ?? secretMissing();
    },
    place(headers) {
      if (digests.length === 0) return 'open';
      if (headers[SECRET_HEADERS[0]] !== undefined || headers[SECRET_HEADERS[1]] !== undefined) return 'header';
      return credentials?.place(headers) ?? 'none';
    },
    askers(sent) {
      const { headers: others = [] } = credentials ?? {};
      if (others === '*') return ['*'];
      const own = [...sent].filter((name) => name.startsWith('x-svc-'));
      return [...new Set([...ASKERS, ...others, ...own])];
    },
    stop() {
      credentials?.stop();
    },
  };
}

function secretMissing(): SvcError {
  return new SvcError('access-denied', 'x-svc-admin-secret/x-svc-access-key required, but not found', { status: 401 });
}
