import { expect, it } from 'vitest';
import { printable } from './printable.ts';

it('shows control characters instead of sending them to the terminal', () => {
  expect(printable('a\u001b[2Kb\rc\u0007\u009b1md\te\nf\r\n')).toBe('a\\u001b[2Kb\\u000dc\\u0007\\u009b1md\te\nf\\u000d\n');
  expect(printable('\u001b[31mred\u001b[0m \u001b[8mhidden', true)).toBe('\u001b[31mred\u001b[0m \\u001b[8mhidden');
  expect(printable('\u001b[31mred\u001b[0m')).toBe('\\u001b[31mred\\u001b[0m');
});

it('shows what reorders a text', () => {
  expect(printable('a\u202eb\u2066c\u2069d\u200fe\u061cf\u2028g é 日本')).toBe('a\\u202eb\\u2066c\\u2069d\\u200fe\\u061cf\\u2028g é 日本');
});
