/** Sends requests to GraphQL servers on behalf of clients. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Session } from '../../auth/session.ts';
import { SvcError } from '../../errors/svc-error.ts';
import type { OutboundClient } from '../../http-client/client.ts';
import { limitConcurrency } from '../../util/limit-concurrency.ts';
import type { Json, JsonObject } from '../../util/json.ts';
import type { RemoteConnection } from './connection.ts';
import { ResponseCounter, type ResponseUsage } from '../../webhooks/response-usage.ts';
import type { TracedCallOptions } from '../../webhooks/call-webhook.ts';
import { callServer } from './call-server.ts';
import { clientCallHeaders } from './request-headers.ts';

/** One request to a GraphQL server on behalf of a client. */
export interface RemoteCall {
  /** Name of the remote schema. */
  readonly remote: string;
  readonly document: string;
  readonly variables: JsonObject;
  readonly session: Session;
  /** Headers of the client's request, if there is one, to be forwarded. */
  readonly headers?: IncomingHttpHeaders;
  readonly options: TracedCallOptions;
}

export interface RemoteResponse {
  /** JSON of the body, whatever the status; it need not be a GraphQL response. */
  readonly body: Json;
  /** `Set-Cookie` headers to forward to the client. */
  readonly cookies: readonly string[];
}

/** @throws SvcError remote-schema-error if the server cannot be reached, does not respond in time, or does not respond with JSON */
export type RemoteCaller = (call: RemoteCall) => Promise<RemoteResponse>;

/**
 * Returns the caller for one client request: its calls share the limits.
 * @param connections by name
 * @param usage bytes that the request has used so far. Defaults to none.
 */
export type RemoteAccess = (connections: ReadonlyMap<string, RemoteConnection>, usage?: ResponseUsage) => RemoteCaller;

export interface RemoteAccessOptions {
  readonly outbound: OutboundClient;
  /** Maximum size of all responses for one client request, in bytes. */
  readonly maxResponseSize: number;
}

/** Maximum number of concurrent calls for one client request. */
const MAX_CONCURRENT_CALLS = 16;

export function createRemoteAccess({ outbound, maxResponseSize }: RemoteAccessOptions): RemoteAccess {
  return (connections, usage = { bytes: 0 }) => {
    const limited = limitConcurrency(MAX_CONCURRENT_CALLS);
    return ({ remote, document, variables, session, headers, options }) =>
      limited(async () => {
        const connection = connections.get(remote);
        if (connection === undefined) throw new SvcError('unexpected', `remote schema with name "${remote}" is inconsistent`);
        const counter = new ResponseCounter(usage, maxResponseSize);
        const { onBytes } = counter;
        const request = { document, variables, headers: clientCallHeaders(connection, session, headers), maxResponseSize, onBytes };
        const { body, cookies } = await callServer(outbound, connection, request, options).catch((error: unknown) => {
          throw counter.refusal(document.startsWith('mutation')) ?? error;
        });
        return { body, cookies };
      });
  };
}
