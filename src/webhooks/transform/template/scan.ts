/** Scans tokens of expressions, and the pieces of strings. */
import { type Json, parseJson } from '../../../util/json.ts';
import { TemplateError } from './template-error.ts';

export type TokenKind = 'symbol' | 'name' | 'number' | 'text' | 'quote' | 'end';

export interface TemplateToken {
  readonly kind: TokenKind;
  /** As written; `value` has the value of single-quoted strings and numbers. */
  readonly text: string;
  readonly value: Json;
  readonly start: number;
  readonly end: number;
}

const NAME = /\$[\p{L}\p{N}_-]*|[\p{L}_][\p{L}\p{N}_-]*/uy;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const SYMBOL = /\{\{|:=|\?\?|>=|<=|==|!=|&&|\|\||[{}[\](),:.?<>]/y;
/** Characters that must not follow a number. */
const NOT_AFTER_NUMBER = /[\p{L}\p{N}_.]/uy;

function match(pattern: RegExp, source: string, offset: number): string | undefined {
  pattern.lastIndex = offset;
  return pattern.exec(source)?.[0];
}

/** Skips white space and comments, which extend from `#` to the end of the line. */
function skipSpace(source: string, from: number): number {
  let offset = from;
  for (;;) {
    const character = source[offset];
    if (character === ' ' || character === '\n' || character === '\r' || character === '\t') offset += 1;
    else if (character === '#') {
      const newline = source.indexOf('\n', offset);
      offset = newline < 0 ? source.length : newline;
    } else return offset;
  }
}

/**
 * Scans the token at or after an offset. Closing braces are separate tokens, because `}}` may end two objects as well as a block.
 * @throws TemplateError Lex Error
 */
export function scanToken(source: string, from: number): TemplateToken {
  const start = skipSpace(source, from);
  const token = (kind: TokenKind, text: string, value: Json = null): TemplateToken => ({
    kind,
    text,
    value,
    start,
    end: start + text.length,
  });
  const first = source[start];
  if (first === undefined) return token('end', '');
  if (first === '"') return token('quote', first);
  if (first === "'") {
    const { text, end } = scanPiece(source, start + 1, "'");
    if (source[end] !== "'") throw new TemplateError('Lex Error', 'The string is not closed.', source, { start, end });
    return { kind: 'text', text: source.slice(start, end + 1), value: text, start, end: end + 1 };
  }
  const number = match(NUMBER, source, start);
  if (number !== undefined) {
    const end = start + number.length;
    if (match(NOT_AFTER_NUMBER, source, end) !== undefined) {
      throw new TemplateError('Lex Error', `Invalid number '${number}${source[end]}'.`, source, { start, end: end + 1 });
    }
    return token('number', number, parseJson(number));
  }
  const name = match(NAME, source, start);
  if (name !== undefined) return token('name', name);
  const symbol = match(SYMBOL, source, start);
  if (symbol !== undefined) return token('symbol', symbol);
  const character = String.fromCodePoint(source.codePointAt(start) as number);
  throw new TemplateError('Lex Error', `Unexpected character '${character}'.`, source, { start, end: start + character.length });
}

const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  "'": "'",
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  '{': '{',
};
const HEXADECIMAL = /[0-9A-Fa-f]{4}/y;

/**
 * Scans literal text up to the end of the string or template, or up to a block.
 * @param until the quote that ends the string, or `null` for unquoted text, which ends with the template; single-quoted strings have no
 *   blocks
 * @throws TemplateError Lex Error for an unknown escape
 */
export function scanPiece(source: string, from: number, until: '"' | "'" | null): { readonly text: string; readonly end: number } {
  let text = '';
  let plain = from;
  let offset = from;
  for (; offset < source.length; ) {
    const character = source[offset] as string;
    if (character === until) break;
    if (character === '{' && until !== "'" && source[offset + 1] === '{') break;
    if (character !== '\\') {
      offset += 1;
      continue;
    }
    text += source.slice(plain, offset);
    const escaped = source[offset + 1] ?? '';
    const hexadecimal = escaped === 'u' ? match(HEXADECIMAL, source, offset + 2) : undefined;
    const meaning = hexadecimal === undefined ? ESCAPES[escaped] : String.fromCharCode(Number.parseInt(hexadecimal, 16));
    if (meaning === undefined || escaped === '') {
      throw new TemplateError('Lex Error', `Invalid escape '\\${escaped}'.`, source, { start: offset, end: offset + 1 + escaped.length });
    }
    text += meaning;
    offset += hexadecimal === undefined ? 2 : 6;
    plain = offset;
  }
  return { text: text + source.slice(plain, offset), end: offset };
}
