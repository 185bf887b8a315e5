import { expect, it } from 'vitest';
import { maskUrl, maskVariables } from './masked-variables.ts';

const names = new Set(['pin', 'e mail', '__proto__']);

it('masks top-level variables by name', () => {
  const given = JSON.parse('{"pin": {"deep": 1}, "other": {"pin": 2}, "__proto__": "x"}');
  expect(JSON.stringify(maskVariables(given, names))).toBe('{"pin":"[MASKED]","other":{"pin":2},"__proto__":"[MASKED]"}');
  expect(maskVariables(given, new Set())).toBe(given);
});

it.each([
  ['/a/pin', '/a/pin'],
  ['/a?pin=1&x=2&pin=3', '/a?pin=[MASKED]&x=2&pin=[MASKED]'],
  ['/a?e+mail=1&e%20mail=2&p%69n=3&=4&&x', '/a?e+mail=[MASKED]&e%20mail=[MASKED]&p%69n=[MASKED]&=4&&x'],
  ['/g?query={a}&variables={"x":1}', '/g?query={a}&variables={"x":1}'],
  ['/g?variables={"x":1.0,"pin":2}', `/g?variables=${encodeURIComponent('{"x":1.0,"pin":"[MASKED]"}')}`],
  ['/g?variables=%7B%22pin%22:2', '/g?variables=[MASKED]'],
  ['/g?variables=[1]', '/g?variables=[1]'],
])('masks the parameters of %s', (url, expected) => {
  expect(maskUrl(url, names)).toBe(expected);
});
