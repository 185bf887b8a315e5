import type { IncomingHttpHeaders } from 'node:http';
import type { SvcError } from '../errors/svc-error.ts';
import type { Json } from '../util/json.ts';
import type { Session } from './session.ts';

/** What authentication looks at; an `IncomingMessage` is one. */
export interface RequestHead {
  readonly headers: IncomingHttpHeaders;
  /** Names and values in turn, as they were sent. */
  readonly rawHeaders?: readonly string[];
}

/** The GraphQL request: the body of a POST, or what reads it. */
export type GraphqlPayload = Buffer | (() => Json);

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
  /** The refusal of a request without credentials. */
  missing(): SvcError;
  stop(): void;
}
