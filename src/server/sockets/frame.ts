/** Frames of the websocket protocol, from server to client (RFC 6455, section 5.2). */
import type { SubscriptionAnswer } from '../../subscriptions/subscriptions.ts';
import { ANSWER_END } from '../../subscriptions/protocols/protocol.ts';
import type { Bytes } from '../../util/bytes.ts';

/** First byte of the only frame of a text message. */
const TEXT = 0x81;

/** Encodes a message as one frame. */
export function textFrame(message: Bytes): Bytes {
  return (head(message.length) + message) as Bytes;
}

function head(size: number): string {
  if (size < 126) return String.fromCharCode(TEXT, size);
  if (size < 65_536) return String.fromCharCode(TEXT, 126, size >> 8, size & 0xff);
  const low = size >>> 0;
  const high = Math.floor(size / 2 ** 32);
  const bytes = [high >>> 24, high >>> 16, high >>> 8, high, low >>> 24, low >>> 16, low >>> 8, low];
  return String.fromCharCode(TEXT, 127, ...bytes.map((byte) => byte & 0xff));
}

/** The last encoding of an answer: clients of a cohort that use equal operation ids get the same text. */
interface Framed {
  readonly body: Bytes;
  start: Bytes;
  message: Bytes | null;
  frame: Bytes | null;
}

const cache = new WeakMap<SubscriptionAnswer, Framed>();

function framed(start: Bytes, answer: SubscriptionAnswer): Framed {
  let found = cache.get(answer);
  if (found === undefined) {
    found = { body: joinPieces(answer.body), start, message: null, frame: null };
    cache.set(answer, found);
  } else if (found.start !== start) {
    found.start = start;
    found.message = null;
    found.frame = null;
  }
  return found;
}

/** Returns the message for an answer. @param start text before the answer */
export function answerMessage(start: Bytes, answer: SubscriptionAnswer): Bytes {
  const one = framed(start, answer);
  one.message ??= (start + one.body + ANSWER_END) as Bytes;
  return one.message;
}

/** Returns the message for an answer as one frame. */
export function answerFrame(start: Bytes, answer: SubscriptionAnswer): Bytes {
  const one = framed(start, answer);
  one.frame ??= (head(start.length + one.body.length + ANSWER_END.length) + start + one.body + ANSWER_END) as Bytes;
  return one.frame;
}

/** Joins pieces into one text. */
export function joinPieces(pieces: readonly Bytes[]): Bytes {
  return (pieces.length === 1 ? pieces[0] : pieces.join('')) as Bytes;
}
