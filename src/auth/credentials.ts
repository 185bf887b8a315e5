import type { IncomingHttpHeaders } from 'node:http';
import type { SvcError } from '../errors/svc-error.ts';
import type { Json } from '../util/json.ts';
import type { Span } from '../observability/tracing/span.ts';
import type { Session } from './session.ts';

/** The parts of a request that authentication reads; an `IncomingMessage` is one. */
export interface RequestHead {
  readonly headers: IncomingHttpHeaders;
  /** Alternating names and values, as sent. */
  readonly rawHeaders?: readonly string[];
  /** Parent span of the webhook call. */
  readonly trace?: Span | undefined;
}

/** Reads the GraphQL request on demand. */
export type GraphqlPayload = () => Json | Promise<Json>;

/**
 * Location of the credentials of a request. `browser`: a browser attaches them to requests of any page. `header`: in a header that only
 * the page's own script or another client can set. `none`: the request has none. `open`: none are needed.
 */
export type CredentialPlace = 'browser' | 'header' | 'none' | 'open';

/** `none`: a service without an admin secret, or a request without credentials. */
export type AuthenticationMethod = 'admin-secret' | 'jwt' | 'webhook' | 'none';

/** Creates the signal on demand: most requests do not need it. */
export interface ClientPresence {
  /** Aborted when the client disconnects. */
  signal(): AbortSignal;
}

export interface Authenticated {
  readonly session: Session;
  /** Values of `Set-Cookie` headers for the client. */
  readonly cookies: readonly string[];
}

/** A way to authenticate besides the admin secret. */
export interface CredentialCheck {
  readonly kind: 'jwt' | 'webhook';
  /**
   * @returns `null` if the request has no credentials of this kind
   * @throws SvcError synchronously or as a rejection, if they are invalid
   */
  check(request: RequestHead, graphql: GraphqlPayload | null, client: ClientPresence): Promise<Authenticated> | null;
  /** Returns the location of the credentials that `check` may use. */
  place(headers: IncomingHttpHeaders): 'browser' | 'header' | 'none';
  /** Headers that `check` reads, in lower case; `*` for any. */
  readonly headers: readonly string[] | '*';
  /** Returns the error for a request without credentials. */
  missing(): SvcError;
  /** Names the credentials for refused clients: "Authorization: Bearer <token>". */
  readonly accepted: string;
  stop(): void;
}
