import fc from 'fast-check';
import { Lexer, Source, TokenKind } from 'graphql';
import { describe, expect, it } from 'vitest';
import { refusalOf } from '../../../test/support/small-engine.ts';
import { scanDocument } from './scan.ts';
import { runs } from '../../../test/support/deep.ts';

const scan = (query: string, maxTokens: number): string => refusalOf(() => scanDocument(query, maxTokens));

/** Tokens that the scan finds. */
function counted(query: string): number {
  let low = 0;
  let high = query.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (scan(query, middle).includes('tokens')) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Tokens and comments that the parser's own lexer finds. */
function lexed(query: string): number {
  const lexer = new Lexer(new Source(query));
  const first = lexer.token;
  while (lexer.advance().kind !== TokenKind.EOF);
  let count = 0;
  for (let token = first.next; token !== null && token.kind !== TokenKind.EOF; token = token.next) count += 1;
  return count;
}

const token = fc.constantFrom(
  ...['{', '}', '(', ')', '[', ']', ':', '!', '=', '|', '&', '@', '$', '...', 'name', '_a1', 'query'],
  ...[
    '1',
    '-1',
    '1.5e-3',
    '1e+5',
    '""',
    '"a"',
    '"\\"}{"',
    '"\\\\"',
    '"#"',
    '""""""',
    '"""a"b"""',
    '"""\\""" { """',
    '"""{"""',
    '"""\n\n"""',
  ],
  ...['#\n', '# { " \n', '#"""\r'],
);
const gap = fc.constantFrom(' ', '\t', ',', '\n', '\r\n', '\ufeff', ' , ');

describe('a scan', () => {
  it('counts tokens as the lexer does', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(token, gap), { minLength: 1, maxLength: 40 }), (parts) => {
        const query = parts.map((part) => part.join('')).join('');
        // Enough tokens for the lines.
        const padded = `${query}${' x'.repeat(60)}`;
        expect(counted(padded)).toBe(lexed(padded));
      }),
      runs(1000),
    );
  });

  it('stops at the first token above the limit', () => {
    expect(scan('{ a b c }', 5)).toBe('accepted');
    expect(scan('{ a b c }', 4)).toBe('validation-failed: the document has more than 4 tokens @ $.query');
    expect(scan(`{ a(n: ${'1'.repeat(150_000)}) }`, 10)).toBe('accepted');
    expect(scan(`{ a(n: ${'1'.repeat(150_001)}) }`, 10)).toContain('a name or number longer than 150000 characters');
    expect(scan(`{ a ${'#\n'.repeat(20)} }`, 10)).toContain('more than 10 tokens');
  });

  it('limits the length', () => {
    for (const text of [',', ' ', '\ufeff', '#', 'x'].map((character) => character.repeat(400_001))) {
      expect(scan(`{ a ${text} }`, 2000)).toContain('more than 400000 characters');
    }
    expect(scan(`{ a ${','.repeat(390_000)} }`, 2000)).toBe('accepted');
  });

  it('limits the lines, including those in strings', () => {
    for (const lines of ['\n'.repeat(21), '\r'.repeat(21), `"""${'\n'.repeat(21)}"""`, `"""${'\r'.repeat(21)}`]) {
      expect(scan(`{ a ${lines} }`, 10)).toBe('validation-failed: the document has more than 20 lines @ $.query');
    }
    expect(scan(`{ a ${'\n'.repeat(20)} }`, 10)).toBe('accepted');
  });

  it('limits nested brackets', () => {
    const nested = (levels: number): string => '{a('.repeat(levels / 2) + ')}'.repeat(levels / 2);
    expect(scan(nested(1024).repeat(3), 100_000)).toBe('accepted');
    expect(scan(nested(1026), 100_000)).toContain('more than 1024 levels deep');
    expect(scan(`"${'['.repeat(2000)}" #${'['.repeat(2000)}`, 100_000)).toBe('accepted');
  });

  it.each(['"', '"\\', '"""', '"""\\"""', '#', '.', '\\', '\ud800', '"a\nb"', '""" "" ', 'é ☃'])('survives %j', (query) => {
    expect(scan(query, 10)).toBe('accepted');
  });
});
