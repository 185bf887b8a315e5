import { expect, it } from 'vitest';
import { sameButForLastDigits } from './last-digits.ts';

it.each([
  ['{"a": 0.3}', '{"a": 0.30000000000000004}', true],
  ['{"a": 3}', '{"a": 2.9999999999999996}', true],
  ['{"a": 0}', '{"a": 5.551115123125783e-17}', true],
  ['{"a": 0.30000000000000004}', '{"a": 0.3000000001}', false],
  ['{"a": 0.3}', '{"a": 0.4}', false],
  ['{"a": 3}', '{"a": 4}', false],
  ['{"a": 12345678901234567890}', '{"a": 12345678901234567891}', false],
  ['{"a": 1}', '{"b": 1}', false],
  ['[1]', '[1,1]', false],
])('detects that %s and %s differ only in last digits: %s', (text, other, same) => {
  expect(sameButForLastDigits(text, other)).toBe(same);
  expect(sameButForLastDigits(other, text)).toBe(same);
});
