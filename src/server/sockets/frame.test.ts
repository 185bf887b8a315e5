import type { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import * as library from 'ws';
import { bytesOfText } from '../../util/bytes.ts';
import { answerFrame, answerMessage, textFrame } from './frame.ts';

/** Missing in the library's types. */
const { Receiver } = library as unknown as { Receiver: new (options: { isServer: boolean }) => Writable };

it.each([0, 1, 125, 126, 65_535, 65_536, 1_000_000])('encodes a message of %d bytes that the library can decode', async (size) => {
  const text = 'é'.repeat(size / 2) + (size % 2 === 1 ? 'x' : '');
  const receiver = new Receiver({ isServer: false });
  const read = new Promise((resolve) => receiver.on('message', (data: Buffer, isBinary: boolean) => resolve([data.toString(), isBinary])));
  receiver.write(Buffer.from(textFrame(bytesOfText(text)), 'latin1'));
  expect(await read).toEqual([text, false]);
});

it('encodes an answer as a message and as a frame', () => {
  const answer = { body: [bytesOfText('{"data":'), bytesOfText('1}')] };
  expect(answerMessage(bytesOfText('{"id":"1","payload":'), answer)).toBe('{"id":"1","payload":{"data":1}}');
  expect(answerMessage(bytesOfText('{"id":"2","payload":'), answer)).toBe('{"id":"2","payload":{"data":1}}');
  expect(answerMessage(bytesOfText('{"id":"1","payload":'), answer)).toBe('{"id":"1","payload":{"data":1}}');
  for (const id of ['1', '2', 'é'.repeat(100)]) {
    const start = bytesOfText(`{"id":"${id}","payload":`);
    expect(answerFrame(start, answer)).toBe(textFrame(answerMessage(start, answer)));
  }
});
