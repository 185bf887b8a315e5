import { expect, it } from 'vitest';
import { parametersOf, queryParameters } from './parameters.ts';

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

it('gives nothing for a form that is not well encoded', () => {
  expect(parametersOf('a=%FF')).toBeNull();
  expect([...(parametersOf('a=\u00fc') ?? [])]).toEqual([['a', '\u00fc']]);
});
