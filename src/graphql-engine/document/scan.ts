/**
 * Scans the characters of a document before it is parsed, so that rejecting one that is too large costs no more than reading it. The parser
 * creates objects for tokens, and before it reports an error, it counts all lines up to it.
 */
import { SvcError } from '../../errors/svc-error.ts';
import { at, ROOT } from '../../util/path.ts';

/** Maximum lines per token: more are padding. */
const LINES_PER_TOKEN = 2;
/** Maximum characters of a document per permitted token: more are padding, or data. */
const LENGTH_PER_TOKEN = 200;
/** Maximum nested brackets of all kinds: as many as every recursive function over a document can process. */
const MAX_BRACKETS = 1024;

/** Maximum characters of a name or number. No number of a database has more: PostgreSQL's `numeric` has up to 147,455 digits. */
const MAX_WORD = 150_000;

const NEWLINE = 10;
const RETURN = 13;
const QUOTE = 34;
const HASH = 35;
const POINT = 46;
const BACKSLASH = 92;

/** Classes of ASCII characters: part of a name or number, an opening or closing bracket, ignored, or any other. */
const WORD = 1;
const OPEN = 2;
const CLOSE = 3;
const IGNORED = 4;
const CLASSES = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[\w+-]/.test(character)) return WORD;
  if ('([{'.includes(character)) return OPEN;
  if (')]}'.includes(character)) return CLOSE;
  return ' \t,'.includes(character) ? IGNORED : 0;
});

/** Maximum characters of a document. */
export function maxDocumentLength(maxTokens: number): number {
  return Math.max(2 * MAX_WORD, maxTokens * LENGTH_PER_TOKEN);
}

/**
 * Does not check the syntax. The count for texts that are not valid documents is arbitrary.
 * @param maxTokens including comments
 * @returns the number of tokens
 * @throws SvcError validation-failed
 */
export function scanDocument(query: string, maxTokens: number): number {
  const { length } = query;
  const maxLength = maxDocumentLength(maxTokens);
  if (length > maxLength) throw tooLarge(`more than ${maxLength} characters; large values belong into variables`);
  const maxLines = maxTokens * LINES_PER_TOKEN;
  let tokens = 0;
  let lines = 0;
  let brackets = 0;

  for (let i = 0; i < length; ) {
    const code = query.charCodeAt(i);
    const kind = code < 128 ? CLASSES[code] : IGNORED;
    i += 1;
    if (kind === IGNORED) continue;
    if (code === NEWLINE || code === RETURN) {
      if (++lines > maxLines) throw tooLarge(`more than ${maxLines} lines`);
      continue;
    }
    if (++tokens > maxTokens) throw tooLarge(`more than ${maxTokens} tokens`);
    if (kind === WORD) {
      const start = i - 1;
      while (i < length && continues(query, i)) i += 1;
      if (i - start > MAX_WORD) throw tooLarge(`a name or number longer than ${MAX_WORD} characters`);
    } else if (kind === OPEN) {
      if (++brackets > MAX_BRACKETS) throw tooLarge(`brackets inside each other, more than ${MAX_BRACKETS} levels deep`);
    } else if (kind === CLOSE) brackets -= 1;
    else if (code === HASH) {
      while (i < length && query.charCodeAt(i) !== NEWLINE && query.charCodeAt(i) !== RETURN) i += 1;
    } else if (code === POINT) {
      while (query.charCodeAt(i) === POINT) i += 1;
    } else if (code === QUOTE) {
      const block = query.startsWith('""', i);
      const end = block ? endOfBlock(query, i + 2) : endOfString(query, i);
      if (block) lines += linesIn(query, i, end);
      i = end;
    }
  }
  if (lines > maxLines) throw tooLarge(`more than ${maxLines} lines`);
  return tokens;
}

/** A single point belongs to a number. */
function continues(query: string, i: number): boolean {
  const code = query.charCodeAt(i);
  return CLASSES[code] === WORD || (code === POINT && query.charCodeAt(i + 1) !== POINT);
}

function endOfString(query: string, start: number): number {
  for (let i = start; i < query.length; i++) {
    const code = query.charCodeAt(i);
    if (code === QUOTE) return i + 1;
    if (code === NEWLINE || code === RETURN) return i;
    if (code === BACKSLASH) i += 1;
  }
  return query.length;
}

/** `\"""` does not end the string. */
function endOfBlock(query: string, start: number): number {
  let end = query.indexOf('"""', start);
  while (end > start && query.charCodeAt(end - 1) === BACKSLASH) end = query.indexOf('"""', end + 3);
  return end < 0 ? query.length : end + 3;
}

function linesIn(query: string, start: number, end: number): number {
  let lines = 0;
  for (let i = start; i < end; i++) {
    const code = query.charCodeAt(i);
    if (code === NEWLINE || code === RETURN) lines += 1;
  }
  return lines;
}

function tooLarge(what: string): SvcError {
  return new SvcError('validation-failed', `the document has ${what}`, { path: at(ROOT, 'query') });
}
