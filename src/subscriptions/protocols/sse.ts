/**
 * GraphQL over server-sent events, a connection for each operation:
 * https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md
 */
import type { SvcError } from '../../errors/svc-error.ts';
import { type Bytes, bytesOfText } from '../../util/bytes.ts';
import { type JsonObject, printJson } from '../../util/json.ts';
import { encodeErrors } from './protocol.ts';

export const EVENT_STREAM_TYPE = 'text/event-stream; charset=utf-8';

/** The text before the `{"data":…}` of an answer, which must not contain line breaks; `EVENT_END` is the text after it. */
export const ANSWER_START = 'event: next\ndata: ' as Bytes;
export const EVENT_END = '\n\n' as Bytes;

/** End of the operation and of the stream. It has empty data because browsers drop events without data. */
export const COMPLETED = 'event: complete\ndata: \n\n' as Bytes;

/** A comment, which clients ignore: it keeps the connection open. */
export const KEEP_ALIVE = ':\n\n' as Bytes;

/** An event with errors instead of an answer. */
export function errorEvent(errors: readonly SvcError[]): Bytes {
  const body: JsonObject = { errors: encodeErrors(errors) };
  return `${ANSWER_START}${bytesOfText(printJson(body))}${EVENT_END}` as Bytes;
}
