/** Sends one request to a GraphQL server. Resolves with the JSON of the response, or rejects with one clear error. */
import { SvcError } from '../../errors/svc-error.ts';
import type { OutboundClient } from '../../http-client/client.ts';
import { OutboundError } from '../../http-client/outbound-error.ts';
import { type Json, type JsonObject, printJson } from '../../util/json.ts';
import { ResponseFault, responseJsonCooperatively } from '../../webhooks/response-json.ts';
import { callWebhook, type TracedCallOptions, timeoutWithin } from '../../webhooks/call-webhook.ts';
import { cookiesOf } from '../../webhooks/cookies.ts';
import { httpException } from '../../webhooks/http-exception.ts';
import type { RemoteConnection } from './connection.ts';
import type { OutboundResponse } from '../../http-client/request.ts';

export interface ServerRequest {
  readonly document: string;
  readonly variables?: JsonObject;
  readonly operationName?: string;
  /** All headers to send; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Maximum size of the response, in bytes. */
  readonly maxResponseSize: number;
  /** Called with the size of each piece of the response; `false` if the responses to the client's request are too large together. */
  readonly onBytes?: (bytes: number) => boolean;
}

export interface ServerResponse {
  readonly status: number;
  readonly body: Json;
  /** Values of `Set-Cookie` headers. */
  readonly cookies: readonly string[];
}

/** @throws SvcError remote-schema-error if the server cannot be reached, does not respond in time, or does not respond with JSON */
export async function callServer(
  outbound: OutboundClient,
  connection: RemoteConnection,
  request: ServerRequest,
  callOptions: TracedCallOptions,
): Promise<ServerResponse> {
  const { document: query, variables = {}, operationName, headers, maxResponseSize, onBytes } = request;
  const timeout = timeoutWithin(connection.timeout, callOptions);
  let response: OutboundResponse;
  try {
    const call = {
      kind: 'remote_schema',
      url: connection.url,
      template: connection.address,
      method: 'POST',
      headers,
      body: printJson({ query, variables, ...(operationName === undefined ? {} : { operationName }) }),
      timeout,
      maxResponseSize,
      ...(onBytes === undefined ? {} : { onBytes }),
    } as const;
    response = await callWebhook(outbound, call, callOptions);
  } catch (error) {
    if (error instanceof OutboundError && error.failure === 'too-large') {
      const message = `the responses of remote schemas exceed ${maxResponseSize} bytes`;
      throw new SvcError('remote-schema-error', message, { internal: { address: connection.address }, cause: error });
    }
    throw unreachable(connection, timeout, error);
  }
  return { status: response.status, body: await decode(response, connection), cookies: cookiesOf(response) };
}

/** The resolved URL may contain secrets: the message has the address from the metadata, `internal` only parts that are not secret. */
function unreachable({ address, url }: RemoteConnection, timeout: number, error: unknown): SvcError {
  return new SvcError('remote-schema-error', `HTTP exception occurred while sending the request to "${address}"`, {
    internal: httpException({ url, template: address, method: 'POST', timeout }, error),
    cause: error,
  });
}

async function decode({ status, headers, body }: OutboundResponse, { address }: RemoteConnection): Promise<Json> {
  try {
    return await responseJsonCooperatively(body);
  } catch (error) {
    if (!(error instanceof ResponseFault)) throw error;
    throw new SvcError('remote-schema-error', `the response of "${address}" ${error.message}`, {
      internal: { status, content_type: [headers['content-type'] ?? null].flat()[0] ?? null },
      cause: error,
    });
  }
}
