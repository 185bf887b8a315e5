/**
 * GraphQL over server-sent events, a connection for each operation:
 * https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md
 */
import type { SvcError } from '../../errors/svc-error.ts';
import { type Bytes, bytesOfText } from '../../util/bytes.ts';
import { type JsonObject, printJson } from '../../util/json.ts';
import { encodeErrors } from './protocol.ts';

export const EVENT_STREAM_TYPE = 'text/event-stream; charset=utf-8';

/** What comes before the `{"data":…}` of an answer, which has no line ends in it; after it comes `EVENT_END`. */
export const ANSWER_START = 'event: next\ndata: ' as Bytes;
export const EVENT_END = '\n\n' as Bytes;

/** The operation is done, and with it the stream. The empty data is there for browsers: without any they drop the event. */
export const COMPLETED = 'event: complete\ndata: \n\n' as Bytes;

/** A comment, which no client shows: it keeps the connection open. */
export const KEEP_ALIVE = ':\n\n' as Bytes;

/** Errors in place of an answer. */
export function errorEvent(errors: readonly SvcError[]): Bytes {
  const body: JsonObject = { errors: encodeErrors(errors) };
  return `${ANSWER_START}${bytesOfText(printJson(body))}${EVENT_END}` as Bytes;
}
