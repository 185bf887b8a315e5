import type { IncomingHttpHeaders } from 'node:http';
import type { SvcError } from '../errors/svc-error.ts';
import type { Json } from '../util/json.ts';
import type { Span } from '../observability/tracing/span.ts';
import type { Session } from './session.ts';

/** What authentication looks at; an `IncomingMessage` is one. */
export interface RequestHead {
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as they were sent. */
  readonly rawHeaders?: readonly string[];
  /** What the webhook is asked as a part of. */
  readonly trace?: Span | undefined;
}

/** Reads the GraphQL request, when somebody wants to know it. */
export type GraphqlPayload = () => Json | Promise<Json>;

/**
 * Where the credentials of a request are. `browser`: where a browser puts them by itself, whichever page has made it
 * send the request; `header`: in a header that only the page's own script or another client could set; `none`: there
 * are none; `open`: none are needed.
 */
export type CredentialPlace = 'browser' | 'header' | 'none' | 'open';

/** Makes a signal for those who need one: most requests do not. */
export interface ClientPresence {
  /** Aborted when the client goes away. */
  signal(): AbortSignal;
}

export interface Authenticated {
  readonly session: Session;
  /** Values of `Set-Cookie` headers for the client. */
  readonly cookies: readonly string[];
}

/** A way to authenticate besides the admin secret. */
export interface CredentialCheck {
  /**
   * @returns null when the request has no credentials of this kind
   * @throws SvcError at once or later, when they are refused
   */
  check(request: RequestHead, graphql: GraphqlPayload | null, client: ClientPresence): Promise<Authenticated> | null;
  /** Where the credentials are that `check` may use. */
  place(headers: IncomingHttpHeaders): 'browser' | 'header' | 'none';
  /** The headers that `check` looks at, in lower case; `*`: there is no telling. */
  readonly headers: readonly string[] | '*';
  /** The refusal of a request without credentials. */
  missing(): SvcError;
  stop(): void;
}
