import { expect, it } from 'vitest';
import { decodeForm } from './form.ts';
import { decodeQueryString } from './parameters.ts';

/** Encodes a text as HTTP does: one character per byte. */
const sent = (text: string): string => Buffer.from(text).toString('latin1');

it('decodes encoded and unencoded parameters', () => {
  expect([...decodeQueryString(sent('a=%C3%BC+%25&b=\u00fc&c&d=%EF%BF%BD'))]).toEqual([
    ['a', '\u00fc %'],
    ['b', '\u00fc'],
    ['c', ''],
    ['d', '\ufffd'],
  ]);
});

it.each(['%FF', '%', '%4', '%zz', 'a=%C3&b=%BC', '%ED%A0%80', '\u00ff'])('rejects %j', (text) => {
  expect(() => decodeQueryString(text)).toThrow('the query string of the URL has an invalid encoding');
});

it('rejects forms with an invalid encoding, and names the cause', () => {
  const message = 'the form has an invalid encoding: it must be UTF-8, with percent signs as %25';
  for (const form of ['a=%FF', 'a=100%', 'a=%zz', 'a=\u00ff']) expect(() => decodeForm(Buffer.from(form, 'latin1'))).toThrow(message);
  expect([...decodeForm(Buffer.from('a=\u00fc&b=%25'))]).toEqual([
    ['a', '\u00fc'],
    ['b', '%'],
  ]);
});
