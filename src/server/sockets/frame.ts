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

/** The whole message of an answer: clients of the same cohort that number their operations alike get the very same one. */
interface Framed {
  readonly body: Bytes;
  start: Bytes;
  message: Bytes;
}

const known = new WeakMap<Answer, Framed>();

/** @param start what comes before the answer in the message */
export function answerMessage(start: Bytes, answer: Answer): Bytes {
  let framed = known.get(answer);
  if (framed === undefined) {
    const body = join(answer.body);
    framed = { body, start, message: (start + body + ANSWER_END) as Bytes };
    known.set(answer, framed);
  } else if (framed.start !== start) {
    framed.start = start;
    framed.message = (start + framed.body + ANSWER_END) as Bytes;
  }
  return framed.message;
}

/** The pieces as one. */
export function join(pieces: readonly Bytes[]): Bytes {
  return (pieces.length === 1 ? pieces[0] : pieces.join('')) as Bytes;
}
