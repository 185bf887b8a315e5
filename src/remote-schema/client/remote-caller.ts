/** Requests to GraphQL servers on behalf of clients. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Session } from '../../auth/session.ts';
import { SvcError } from '../../errors/svc-error.ts';
import type { OutboundClient } from '../../http-client/client.ts';
import { createTurns } from '../../util/turns.ts';
import type { Json, JsonObject } from '../../util/json.ts';
import type { RemoteConnection } from './connection.ts';
import { AnswerIntake, type AnswerUse } from '../../webhooks/answer-use.ts';
import type { Patience } from '../../webhooks/call-webhook.ts';
import { exchange } from './exchange.ts';
import { clientCallHeaders } from './request-headers.ts';

/** One request to a GraphQL server on behalf of a client. */
export interface RemoteCall {
  /** Name of the remote schema. */
  readonly remote: string;
  readonly document: string;
  readonly variables: JsonObject;
  readonly session: Session;
  /** Of the client's request, for servers that get them; absent where there is none. */
  readonly headers?: IncomingHttpHeaders;
  readonly how: Patience;
}

export interface RemoteReply {
  /** The JSON of the body, whatever the status: an answer in the sense of GraphQL, or not. */
  readonly body: Json;
  /** `Set-Cookie` headers, to be handed on to the client. */
  readonly cookies: readonly string[];
}

/** @throws SvcError remote-schema-error when the server cannot be reached, takes too long, or answers with anything but JSON */
export type RemoteCaller = (call: RemoteCall) => Promise<RemoteReply>;

/**
 * The caller of one request of a client: its calls share the limits.
 * @param connections by name
 * @param use absent: the request is the first to use anything
 */
export type RemoteAccess = (connections: ReadonlyMap<string, RemoteConnection>, use?: AnswerUse) => RemoteCaller;

export interface RemoteAccessOptions {
  readonly outbound: OutboundClient;
  /** Bytes of all answers to one request of a client. */
  readonly maxResponseSize: number;
}

/** Calls that run at the same time for one request of a client. */
const CALLS_AT_ONCE = 16;

export function createRemoteAccess({ outbound, maxResponseSize }: RemoteAccessOptions): RemoteAccess {
  return (connections, use = { bytes: 0 }) => {
    const inTurn = createTurns(CALLS_AT_ONCE);
    return ({ remote, document, variables, session, headers, how }) =>
      inTurn(async () => {
        const connection = connections.get(remote);
        if (connection === undefined) throw new SvcError('unexpected', `remote schema with name "${remote}" is inconsistent`);
        const intake = new AnswerIntake(use, maxResponseSize);
        const { take } = intake;
        const asked = { document, variables, headers: clientCallHeaders(connection, session, headers), maxResponseSize, take };
        const { body, cookies } = await exchange(outbound, connection, asked, how).catch((error: unknown) => {
          throw intake.refusal(document.startsWith('mutation')) ?? error;
        });
        return { body, cookies };
      });
  };
}
