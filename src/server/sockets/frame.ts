/** Frames of the websocket protocol from a server to its clients (RFC 6455, section 5.2). */
import type { Answer } from '../../subscriptions/subscriptions.ts';
import { ANSWER_END } from '../../subscriptions/protocols/protocol.ts';
import type { Bytes } from '../../util/bytes.ts';

/** The last frame of a message, which is text. */
const TEXT = 0x81;

/** A message as one frame. */
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

/** An answer as it was sent last: clients of the same cohort that number their operations alike get the very same text. */
interface Framed {
  readonly body: Bytes;
  start: Bytes;
  message: Bytes | null;
  frame: Bytes | null;
}

const known = new WeakMap<Answer, Framed>();

function framed(start: Bytes, answer: Answer): Framed {
  let found = known.get(answer);
  if (found === undefined) {
    found = { body: join(answer.body), start, message: null, frame: null };
    known.set(answer, found);
  } else if (found.start !== start) {
    found.start = start;
    found.message = null;
    found.frame = null;
  }
  return found;
}

/** @param start what comes before the answer in the message */
export function answerMessage(start: Bytes, answer: Answer): Bytes {
  const one = framed(start, answer);
  one.message ??= (start + one.body + ANSWER_END) as Bytes;
  return one.message;
}

/** The same as one frame. */
export function answerFrame(start: Bytes, answer: Answer): Bytes {
  const one = framed(start, answer);
  one.frame ??= (head(start.length + one.body.length + ANSWER_END.length) + start + one.body + ANSWER_END) as Bytes;
  return one.frame;
}

/** The pieces as one. */
export function join(pieces: readonly Bytes[]): Bytes {
  return (pieces.length === 1 ? pieces[0] : pieces.join('')) as Bytes;
}
