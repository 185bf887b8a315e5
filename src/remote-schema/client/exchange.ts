/** One request to a GraphQL server and the JSON of its answer, or one clear error. */
import { SvcError } from '../../errors/svc-error.ts';
import type { OutboundClient } from '../../http-client/client.ts';
import { OutboundError } from '../../http-client/outbound-error.ts';
import { type Json, type JsonObject, printJson } from '../../util/json.ts';
import { AnswerFault, answerJsonInSlices } from '../../webhooks/answer-json.ts';
import { callWebhook, type Patience, timeoutWithin } from '../../webhooks/call-webhook.ts';
import { cookiesOf } from '../../webhooks/cookies.ts';
import { httpException } from '../../webhooks/http-exception.ts';
import type { RemoteConnection } from './connection.ts';
import type { OutboundResponse } from '../../http-client/request.ts';

export interface Asked {
  readonly document: string;
  readonly variables?: JsonObject;
  readonly operationName?: string;
  /** All that are sent, names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** bytes of the answer */
  readonly maxResponseSize: number;
  /** Hears of its bytes as they come; false: the answers to the client's request are too large together. */
  readonly take?: (bytes: number) => boolean;
}

export interface Answered {
  readonly status: number;
  readonly body: Json;
  /** Values of `Set-Cookie` headers. */
  readonly cookies: readonly string[];
}

/** @throws SvcError remote-schema-error when the server cannot be reached, takes too long, or answers with anything but JSON */
export async function exchange(
  outbound: OutboundClient,
  connection: RemoteConnection,
  asked: Asked,
  patience: Patience,
): Promise<Answered> {
  const { document: query, variables = {}, operationName, headers, maxResponseSize, take } = asked;
  const timeout = timeoutWithin(connection.timeout, patience);
  let answer: OutboundResponse;
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
      ...(take === undefined ? {} : { take }),
    } as const;
    answer = await callWebhook(outbound, call, patience);
  } catch (error) {
    if (error instanceof OutboundError && error.failure === 'too-large') {
      const message = `the answers of remote schemas have more than ${maxResponseSize} bytes`;
      throw new SvcError('remote-schema-error', message, { internal: { address: connection.address }, cause: error });
    }
    throw unreachable(connection, timeout, error);
  }
  return { status: answer.status, body: await decode(answer, connection), cookies: cookiesOf(answer) };
}

/** The URL may hold secrets: the message has the address as the metadata write it, and administrators get what is no secret. */
function unreachable({ address, url }: RemoteConnection, timeout: number, error: unknown): SvcError {
  return new SvcError('remote-schema-error', `HTTP exception occurred while sending the request to "${address}"`, {
    internal: httpException({ url, template: address, method: 'POST', timeout }, error),
    cause: error,
  });
}

async function decode({ status, headers, body }: OutboundResponse, { address }: RemoteConnection): Promise<Json> {
  try {
    return await answerJsonInSlices(body);
  } catch (error) {
    if (!(error instanceof AnswerFault)) throw error;
    throw new SvcError('remote-schema-error', `the answer of "${address}" ${error.message}`, {
      internal: { status, content_type: [headers['content-type'] ?? null].flat()[0] ?? null },
      cause: error,
    });
  }
}
