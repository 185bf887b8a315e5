import { expect, it } from 'vitest';
import { decodeForm } from './form.ts';
import { queryParameters } from './parameters.ts';

/** As HTTP hands it over: a character for each byte. */
const sent = (text: string): string => Buffer.from(text).toString('latin1');

it('takes what is encoded, and what clients leave unencoded', () => {
  expect([...queryParameters(sent('a=%C3%BC+%25&b=\u00fc&c&d=%EF%BF%BD'))]).toEqual([
    ['a', '\u00fc %'],
    ['b', '\u00fc'],
    ['c', ''],
    ['d', '\ufffd'],
  ]);
});

it.each(['%FF', '%', '%4', '%zz', 'a=%C3&b=%BC', '%ED%A0%80', '\u00ff'])('refuses %j', (text) => {
  expect(() => queryParameters(text)).toThrow('the query string of the URL is not well encoded');
});

it('refuses forms that are not well encoded, and says what is wrong', () => {
  const message = 'the form is not well encoded: it has to be UTF-8, with percent signs as %25';
  for (const form of ['a=%FF', 'a=100%', 'a=%zz', 'a=\u00ff']) expect(() => decodeForm(Buffer.from(form, 'latin1'))).toThrow(message);
  expect([...decodeForm(Buffer.from('a=\u00fc&b=%25'))]).toEqual([
    ['a', '\u00fc'],
    ['b', '%'],
  ]);
});
