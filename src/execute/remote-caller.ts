import type { IncomingHttpHeaders } from 'node:http';
import type { Session } from '../auth/session.ts';
import type { RunOptions } from '../backend/backend.ts';
import type { Json, JsonObject } from '../util/json.ts';

/** One request to a GraphQL server on behalf of a client. */
export interface RemoteCall {
  /** Name of the remote schema. */
  readonly remote: string;
  readonly document: string;
  readonly variables: JsonObject;
  readonly session: Session;
  /** Of the client's request, for servers that get them; absent where there is none. */
  readonly headers?: IncomingHttpHeaders;
  readonly how: RunOptions;
}

export interface RemoteReply {
  /** The JSON of the body, whatever the status: an answer in the sense of GraphQL, or not. */
  readonly body: Json;
  /** `Set-Cookie` headers, to be handed on to the client. */
  readonly cookies: readonly string[];
}

/** @throws SvcError remote-schema-error when the server cannot be reached, takes too long, or answers with anything but JSON */
export type RemoteCaller = (call: RemoteCall) => Promise<RemoteReply>;
