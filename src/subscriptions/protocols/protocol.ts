/**
 * The common interface of the two protocols of GraphQL over websockets. A protocol is a small state machine: its input is messages of the
 * client and events of its operations, its output is effects for the connection. It does not depend on sockets, time and sessions.
 */
import { encodeGraphqlError } from '../../errors/encode.ts';
import type { SvcError } from '../../errors/svc-error.ts';
import { type Bytes, bytesOfText } from '../../util/bytes.ts';
import { isJsonObject, type Json, type JsonObject, printJson } from '../../util/json.ts';

/** An instruction for the connection. */
export type Effect =
  | { readonly kind: 'send'; readonly message: Bytes }
  | { readonly kind: 'close'; readonly code: number; readonly reason: string }
  /** Authenticate the client, then call `accepted` or `refused`. `alone`: ignore the headers of the handshake. */
  | { readonly kind: 'authenticate'; readonly headers: JsonObject; readonly alone: boolean }
  | { readonly kind: 'start'; readonly id: string; readonly request: Json }
  | { readonly kind: 'stop'; readonly id: string };

export interface Protocol {
  /** Value of `Sec-WebSocket-Protocol`. */
  readonly name: 'graphql-transport-ws' | 'graphql-ws';
  /** True once a client may start operations. */
  readonly isOpen: boolean;
  /** Message that keeps the connection alive; may be sent at any time. */
  readonly keepAlive: Bytes;
  /**
   * Handles a message of the client.
   * @param isTaken returns true if an operation with this id is running
   */
  receive(message: Json, isTaken: (id: string) => boolean): readonly Effect[];
  /** Called for a message that is not valid JSON. */
  garbled(reason: string): readonly Effect[];
  /** Called when the client has been authenticated. */
  accepted(): readonly Effect[];
  /** Called when the client's authentication has failed. */
  refused(error: SvcError): readonly Effect[];
  /** Called when the client has not authenticated in time. */
  initTimedOut(): readonly Effect[];
  /** Returns the text before the `{"data":…}` of an answer; `ANSWER_END` is the text after it. */
  answerStart(id: string): Bytes;
  /** Returns the message for the end of an operation. */
  completed(id: string): Bytes;
  /** Returns the messages for an operation that was rejected before it ran, or for a subscription that these errors have ended. */
  refusedOperation(id: string, errors: readonly SvcError[]): readonly Bytes[];
  /** Returns the messages for a query or mutation that failed. */
  failedOperation(id: string, errors: readonly SvcError[]): readonly Bytes[];
  /** Returns the message for errors of a subscription that goes on. */
  interrupted(id: string, errors: readonly SvcError[]): Bytes;
}

export const ANSWER_END = '}' as Bytes;

/** Maximum size of the reason in a close frame, in bytes (RFC 6455, section 5.5). */
const MAX_REASON = 123;
/** Maximum length of an id, which is part of every answer, in characters. */
const MAX_ID = 1000;

export function printMessage(message: JsonObject): Bytes {
  return bytesOfText(printJson(message));
}

export function send(message: JsonObject): Effect {
  return { kind: 'send', message: printMessage(message) };
}

export function sendAll(messages: readonly Bytes[]): readonly Effect[] {
  return messages.map((message) => ({ kind: 'send', message }));
}

export function close(code: number, reason: string): Effect {
  return { kind: 'close', code, reason: cut(reason, MAX_REASON) };
}

/**
 * Closes with the reason in the form `{"server_error_msg":"4400: …"}`, which stays valid JSON if the text is truncated.
 * @param remedies sentences that say what to do; the last ones are added as `suggestions`, as far as they fit
 */
export function closeWithMessage(code: number, text: string, remedies: readonly string[] = []): Effect {
  const message = `${code}: ${text}`;
  for (let first = 0; first < remedies.length; first++) {
    const reason = JSON.stringify({ server_error_msg: message, suggestions: remedies.slice(first) });
    if (Buffer.byteLength(reason) <= MAX_REASON) return { kind: 'close', code, reason };
  }
  let textLimit = MAX_REASON;
  for (;;) {
    const reason = JSON.stringify({ server_error_msg: cut(message, textLimit) });
    const over = Buffer.byteLength(reason) - MAX_REASON;
    if (over <= 0) return { kind: 'close', code, reason };
    textLimit -= over;
  }
}

/** Truncates a text to a number of bytes in UTF-8. */
function cut(text: string, bytes: number): string {
  const encoded = Buffer.from(text);
  if (encoded.length <= bytes) return text;
  let end = Math.max(0, bytes);
  // Steps back to the start of a character.
  while (end > 0 && ((encoded[end] as number) & 0xc0) === 0x80) end -= 1;
  return encoded.toString('utf8', 0, end);
}

/** Encodes errors for clients, without details for administrators. */
export function encodeErrors(errors: readonly SvcError[]): readonly Json[] {
  return errors.flatMap((error) => error.graphqlErrors ?? [encodeGraphqlError(error, false)]);
}

/** An invalid message of a client. */
export class MessageFault extends Error {}

/** Reads the fields of a client's message. @throws MessageFault */
export class ClientMessage {
  readonly #fields: JsonObject;

  constructor(message: Json) {
    if (!isJsonObject(message)) throw new MessageFault('expected an object');
    this.#fields = message;
  }

  get type(): Json {
    return this.#fields['type'] ?? null;
  }

  get id(): string {
    const { id } = this.#fields;
    if (typeof id !== 'string' || id === '') throw new MessageFault(`the message "${String(this.type)}" needs an "id", a string`);
    if (id.length > MAX_ID) throw new MessageFault(`the "id" has more than ${MAX_ID} characters`);
    return id;
  }

  get payload(): Json {
    return this.#fields['payload'] ?? null;
  }

  /** The request of an operation; it is validated when it runs. */
  get request(): Json {
    const { payload } = this;
    if (payload === null) throw new MessageFault(`the message "${String(this.type)}" needs a "payload"`);
    return payload;
  }

  /** The headers in the payload of `connection_init`. */
  get headers(): JsonObject {
    const { payload } = this;
    if (payload === null) return {};
    if (!isJsonObject(payload)) throw new MessageFault('the "payload" of "connection_init" must be an object');
    const { headers = null } = payload;
    if (headers === null) return {};
    if (!isJsonObject(headers)) throw new MessageFault('the "headers" in the payload of "connection_init" must be an object');
    return headers;
  }
}

export function unknownType(type: Json, known: readonly string[]): MessageFault {
  const names = known.map((name) => `"${name}"`).join(', ');
  return new MessageFault(`expected "type" to be one of ${names}, but found ${cut(printJson(type), 100)}`);
}
