/**
 * What the two protocols of GraphQL over websockets have in common. A protocol is a small machine: messages of the client and
 * what has become of them go in, what the connection is to do comes out. It knows no sockets, no time and no sessions.
 */
import { encodeGraphqlError } from '../../errors/encode.ts';
import type { SvcError } from '../../errors/svc-error.ts';
import { type Bytes, bytesOfText } from '../../util/bytes.ts';
import { isJsonObject, type Json, type JsonObject, printJson } from '../../util/json.ts';

/** What the connection is to do. */
export type Effect =
  | { readonly kind: 'send'; readonly message: Bytes }
  | { readonly kind: 'close'; readonly code: number; readonly reason: string }
  /** Find out who the client is; `alone`: the headers of the handshake do not count. Then `accepted` or `refused` is due. */
  | { readonly kind: 'authenticate'; readonly headers: JsonObject; readonly alone: boolean }
  | { readonly kind: 'start'; readonly id: string; readonly request: Json }
  | { readonly kind: 'stop'; readonly id: string };

export interface Protocol {
  /** In `Sec-WebSocket-Protocol`. */
  readonly name: 'graphql-transport-ws' | 'graphql-ws';
  /** Whether a client may start operations. */
  readonly isOpen: boolean;
  /** Says that the connection is alive; may be sent at any time. */
  readonly keepAlive: Bytes;
  /**
   * A message of the client.
   * @param isTaken whether an operation of this id runs
   */
  receive(message: Json, isTaken: (id: string) => boolean): readonly Effect[];
  /** The client sent what is no JSON text at all. */
  garbled(reason: string): readonly Effect[];
  /** The client has been authenticated. */
  accepted(): readonly Effect[];
  /** It has not. */
  refused(error: SvcError): readonly Effect[];
  /** The client has not said in time who it is. */
  initTimedOut(): readonly Effect[];
  /** What comes before the `{"data":…}` of an answer; after it comes `ANSWER_END`. */
  answerStart(id: string): Bytes;
  /** The operation is done. */
  completed(id: string): Bytes;
  /** The operation was refused before it ran, or a subscription has come to its end by these errors. */
  refusedOperation(id: string, errors: readonly SvcError[]): readonly Bytes[];
  /** A query or mutation failed while it ran. */
  failedOperation(id: string, errors: readonly SvcError[]): readonly Bytes[];
  /** Errors in place of an answer of a subscription, which goes on. */
  interrupted(id: string, errors: readonly SvcError[]): Bytes;
}

export const ANSWER_END = '}' as Bytes;

/** Bytes of the reason in a frame that closes a connection (RFC 6455, section 5.5). */
const MAX_REASON = 123;
/** Characters of an id. It goes along with every answer. */
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

/** Closes with the reason in the form `{"server_error_msg":"4400: …"}`, whole however long the text is. */
export function closeWithMessage(code: number, text: string): Effect {
  const message = `${code}: ${text}`;
  let room = MAX_REASON;
  for (;;) {
    const reason = JSON.stringify({ server_error_msg: cut(message, room) });
    const over = Buffer.byteLength(reason) - MAX_REASON;
    if (over <= 0) return { kind: 'close', code, reason };
    room -= over;
  }
}

/** As much of a text as so many bytes of UTF-8 can hold. */
function cut(text: string, bytes: number): string {
  const encoded = Buffer.from(text);
  if (encoded.length <= bytes) return text;
  let end = Math.max(0, bytes);
  // Not in the middle of a character.
  while (end > 0 && ((encoded[end] as number) & 0xc0) === 0x80) end -= 1;
  return encoded.toString('utf8', 0, end);
}

/** Errors as clients get them; details for administrators are never among them. */
export function encodeErrors(errors: readonly SvcError[]): readonly Json[] {
  return errors.flatMap((error) => error.graphqlErrors ?? [encodeGraphqlError(error, false)]);
}

/** A message that is none of the protocol; `message` says why. */
export class MessageFault extends Error {}

/** The fields of a message of the client. @throws MessageFault */
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
    if (typeof id !== 'string' || id === '') throw new MessageFault(`the message "${String(this.type)}" needs an "id", a text`);
    if (id.length > MAX_ID) throw new MessageFault(`the "id" has more than ${MAX_ID} characters`);
    return id;
  }

  get payload(): Json {
    return this.#fields['payload'] ?? null;
  }

  /** The request of an operation; what is in it is looked at when it runs. */
  get request(): Json {
    const { payload } = this;
    if (payload === null) throw new MessageFault(`the message "${String(this.type)}" needs a "payload"`);
    return payload;
  }

  /** The headers in the payload of the message that opens a conversation. */
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
