/**
 * Splits SQL text at the semicolons that end statements: not at those in quotes, comments, parentheses (rules), and bodies of functions
 * between BEGIN and END.
 */
import { type SqlLexis, STANDARD_LEXIS } from './sql-lexis.ts';

export interface SqlStatement {
  /** Text with comments, without the final semicolon. */
  readonly text: string;
  /** Index of its first character in the whole text, in UTF-16 code units. */
  readonly at: number;
  /** First word in lower case; empty if the statement begins with something else. */
  readonly word: string;
}

interface Lexer {
  readonly text: string;
  at: number;
  readonly lexis: SqlLexis;
}

/** Returns statements with their comments, without the semicolons; parts without a statement are left out. */
export function placedStatements(sql: string, lexis: SqlLexis = STANDARD_LEXIS): readonly SqlStatement[] {
  return split(sql, true, lexis);
}

/**
 * Returns the first statement that begins or ends a transaction, as PostgreSQL reads the text. A routine or column named like the word that
 * begins a body does not hide it.
 */
export function transactionControlIn(sql: string): SqlStatement | undefined {
  let isInBody = false;
  for (const each of split(sql, false)) {
    const { text: piece, word } = each;
    if (isInBody && word === 'end') isInBody = false;
    else if (isTransactionControl(piece)) return each;
    else if (!isInBody) isInBody = opensBody(piece);
  }
  return undefined;
}

/** True if the body of a routine begins in a statement and continues after it. Only BEGIN ATOMIC begins one, and bodies do not nest. */
function opensBody(piece: string): boolean {
  const lexer: Lexer = { text: piece, at: 0, lexis: STANDARD_LEXIS };
  const words: string[] = [];
  let parentheses = 0;
  while (lexer.at < piece.length) {
    if (skipBlank(lexer)) continue;
    const character = piece[lexer.at] as string;
    const word = readWord(lexer);
    if (word === null && !skipQuoted(lexer)) {
      if (character === '(') parentheses++;
      else if (character === ')') parentheses--;
      lexer.at++;
    }
    if (parentheses > 0) continue;
    words.push(word ?? '');
    const created = words[1] === 'or' && words[2] === 'replace' ? words[3] : words[1];
    const isRoutine = words[0] === 'create' && (created === 'function' || created === 'procedure');
    if (words.length > 3 && !isRoutine) return false;
    if (isRoutine && words.at(-2) === 'begin' && word === 'atomic') {
      lexer.at = endOfBlank(piece, lexer.at);
      return lexer.at >= piece.length || readWord(lexer) !== 'end';
    }
  }
  return false;
}

/** @param hasBodies treat unquoted bodies of routines as parts of their statements */
function split(sql: string, hasBodies: boolean, lexis: SqlLexis = STANDARD_LEXIS): readonly SqlStatement[] {
  const lexer: Lexer = { text: sql, at: 0, lexis };
  const statements: SqlStatement[] = [];
  let start = 0;
  let parentheses = 0;
  /** Number of open BEGIN and CASE in the body of a function. */
  let blocks = 0;
  let words: string[] = [];
  /** First word of the statement; `null` before its first character. */
  let first: string | null = null;
  const end = (): void => {
    if (first !== null) {
      const part = sql.slice(start, lexer.at);
      statements.push({ text: part.trim(), at: start + part.length - part.trimStart().length, word: first });
    }
    parentheses = 0;
    blocks = 0;
    words = [];
    first = null;
  };
  while (lexer.at < sql.length) {
    const character = sql[lexer.at] as string;
    if (character === ';' && parentheses === 0 && blocks === 0) {
      end();
      lexer.at++;
      start = lexer.at;
      continue;
    }
    if (skipBlank(lexer)) continue;
    const word = readWord(lexer);
    first ??= word ?? '';
    if (word !== null) {
      if (words.length < 4) words.push(word);
      if (hasBodies && parentheses === 0) blocks = Math.max(0, blocks + blockChange(word, words, blocks));
    } else if (!skipQuoted(lexer)) {
      if (character === '(') parentheses++;
      else if (character === ')') parentheses = Math.max(0, parentheses - 1);
      lexer.at++;
    }
  }
  end();
  return statements;
}

/**
 * Returns whether a text is one expression: not empty, with closed quotes and parentheses, and without a semicolon or a comment that would
 * change the meaning of what follows it.
 */
export function isExpression(text: string, lexis: SqlLexis): boolean {
  const lexer: Lexer = { text: `${text} ;`, at: 0, lexis };
  let parentheses = 0;
  while (lexer.at < lexer.text.length) {
    const character = lexer.text[lexer.at] as string;
    if (character === ';') return lexer.at > text.length && parentheses === 0 && text.trim() !== '';
    if (skipBlank(lexer) || readWord(lexer) !== null || skipQuoted(lexer)) continue;
    if (character === '(') parentheses++;
    else if (character === ')') parentheses--;
    if (parentheses < 0) return false;
    lexer.at++;
  }
  return false;
}

/**
 * Finds lines that begin with a command of a client, outside of literals, quoted names and comments.
 * @param command sticky expression for the first word of a command
 * @returns the start of each command, in UTF-16 code units, and its first word
 */
export function commandLines(sql: string, command: RegExp): readonly { readonly at: number; readonly word: string }[] {
  const lexer: Lexer = { text: sql, at: 0, lexis: STANDARD_LEXIS };
  const found: { at: number; word: string }[] = [];
  while (lexer.at < sql.length) {
    const { at } = lexer;
    command.lastIndex = at;
    const [word] = at === 0 || sql[at - 1] === '\n' ? (command.exec(sql) ?? []) : [];
    if (word !== undefined) {
      found.push({ at, word });
      const end = sql.indexOf('\n', at);
      lexer.at = end < 0 ? sql.length : end;
    } else if (!skipBlank(lexer) && readWord(lexer) === null && !skipQuoted(lexer)) lexer.at++;
  }
  return found;
}

/** Returns the end of the whitespace and comments that begin at a position. */
export function endOfBlank(text: string, at: number): number {
  const lexer: Lexer = { text, at, lexis: STANDARD_LEXIS };
  while (lexer.at < text.length && skipBlank(lexer)) {
    // Each call skips one run of whitespace or one comment.
  }
  return lexer.at;
}

/**
 * Returns the first words of a statement in lower case. Whitespace and comments separate words; a literal or a quoted name is part of a
 * word, whatever it contains.
 */
export function firstWords(text: string, count: number): readonly string[] {
  const lexer: Lexer = { text, at: 0, lexis: STANDARD_LEXIS };
  const words: string[] = [];
  let start = -1;
  while (lexer.at < text.length && words.length < count) {
    const { at } = lexer;
    if (skipBlank(lexer)) {
      if (start >= 0) words.push(text.slice(start, at).toLowerCase());
      start = -1;
      continue;
    }
    if (start < 0) start = at;
    if (readWord(lexer) === null && !skipQuoted(lexer)) lexer.at++;
  }
  if (start >= 0 && words.length < count) words.push(text.slice(start, lexer.at).toLowerCase());
  return words;
}

/** End of the SQL before a literal with code: the body of a routine or of `do`, or dynamic SQL. */
const BEFORE_CODE = /\b(?:as|execute|do(?: language \S+)?) ?$/i;
/** Maximum length of what `BEFORE_CODE` reads, in characters. */
const TAIL = 90;

/**
 * Returns SQL with one blank in place of whitespace and comments, those in bodies of routines included.
 * @param literal returns the replacement of a name in quotes or a literal that holds no code; they are kept by default
 */
export function withoutComments(sql: string, literal: (text: string) => string = (text) => text, lexis: SqlLexis = STANDARD_LEXIS): string {
  return stripped(sql, literal, lexis, 0);
}

/** Code in code, such as dynamic SQL in a routine; what is nested deeper is kept as a literal. */
const MAX_NESTING = 8;

function stripped(sql: string, literal: (text: string) => string, lexis: SqlLexis, depth: number): string {
  const lexer: Lexer = { text: sql, at: 0, lexis };
  const pieces: string[] = [];
  let tail = '';
  const add = (piece: string): void => {
    pieces.push(piece);
    tail = (tail + piece.slice(-TAIL)).slice(-TAIL);
  };
  let from = 0;
  while (lexer.at < sql.length) {
    const { at } = lexer;
    const isBlank = skipBlank(lexer);
    if (!isBlank) {
      if (readWord(lexer) !== null) continue;
      if (!skipQuoted(lexer)) {
        lexer.at++;
        continue;
      }
      // A doubled quote is in the same literal.
      while (sql[at] === "'" && sql[lexer.at] === "'") skipQuoted(lexer);
    }
    add(sql.slice(from, at));
    if (isBlank) {
      lexer.at = endOfBlank(sql, lexer.at);
      add(' ');
    } else {
      const text = sql.slice(at, lexer.at);
      const code = depth < MAX_NESTING && BEFORE_CODE.test(tail) ? codeOf(text, literal, lexis, depth + 1) : undefined;
      add(code ?? literal(text));
    }
    from = lexer.at;
  }
  add(sql.slice(from));
  return pieces.join('');
}

/** Removes the comments from a literal with code. @returns `undefined` if it is no such literal */
function codeOf(text: string, literal: (text: string) => string, lexis: SqlLexis, depth: number): string | undefined {
  const [quote] = /^'|^\$\w*\$/.exec(text) ?? [];
  if (quote === undefined || text.length < 2 * quote.length || !text.endsWith(quote)) return undefined;
  const inside = text.slice(quote.length, -quote.length);
  if (quote !== "'") return quote + stripped(inside, literal, lexis, depth) + quote;
  return `'${stripped(inside.replaceAll("''", "'"), literal, lexis, depth).replaceAll("'", "''")}'`;
}

/** True if a statement begins or ends a transaction; savepoints do not. */
export function isTransactionControl(statement: string): boolean {
  const from = endOfBlank(statement, 0);
  const head = withoutComments(statement.slice(from, from + HEAD_LENGTH))
    .replace(/\s+/g, ' ')
    .toLowerCase();
  return TRANSACTION_CONTROL.test(head);
}

/** Start of a statement that begins or ends a transaction, in lower case with single blanks; savepoints do not. */
export const TRANSACTION_CONTROL =
  /^(?:begin|start transaction|commit|end|abort|prepare transaction|rollback(?! (?:(?:work|transaction) )?to\b))\b/;

/** Maximum length of the start of a statement, in characters. */
const HEAD_LENGTH = 400;

/** A carriage return ends a line, too. */
const LINE_END = /[\n\r]/g;

/** Skips whitespace or a comment. @returns false if there is none */
function skipBlank(lexer: Lexer): boolean {
  const { text, at, lexis } = lexer;
  if (/\s/.test(text[at] as string)) {
    lexer.at++;
    return true;
  }
  const isDashes = text.startsWith('--', at) && !(lexis.spacedDashes && /\S/.test(text.charAt(at + 2)));
  if (isDashes || (lexis.hashComments && text[at] === '#')) {
    LINE_END.lastIndex = at;
    lexer.at = LINE_END.exec(text)?.index ?? text.length;
    return true;
  }
  if (!text.startsWith('/*', at) || isExecutable(lexer)) return false;
  if (!lexis.nestedComments) {
    lexer.at = indexAfter(text, '*/', at + 2);
    return true;
  }
  let depth = 0;
  do {
    if (text.startsWith('/*', lexer.at)) {
      depth++;
      lexer.at += 2;
    } else if (text.startsWith('*/', lexer.at)) {
      depth--;
      lexer.at += 2;
    } else lexer.at++;
  } while (depth > 0 && lexer.at < text.length);
  return true;
}

function isExecutable({ text, at, lexis }: Lexer): boolean {
  return lexis.executableComments && /^\/\*M?!/.test(text.slice(at, at + 4));
}

/** Returns the index after the next occurrence, or the length of the text. */
function indexAfter(text: string, part: string, from: number): number {
  const index = text.indexOf(part, from);
  return index < 0 ? text.length : index + part.length;
}

const WORD = /[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*/y;

/** Reads a keyword or plain name in lower case, but not the `E` of a string with escapes. */
function readWord(lexer: Lexer): string | null {
  WORD.lastIndex = lexer.at;
  const [word] = WORD.exec(lexer.text) ?? [];
  if (word === undefined) return null;
  // E'\'' has escapes; in other strings a backslash is an ordinary character.
  if (!lexer.lexis.escapes && /^e$/i.test(word) && lexer.text[lexer.at + 1] === "'") return null;
  lexer.at += word.length;
  return word.toLowerCase();
}

const DOLLAR_QUOTE = /\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$/y;

/** Skips a string, quoted name, dollar-quoted text or executable comment, up to the end of the text if it is not closed. @returns false if there is none */
function skipQuoted(lexer: Lexer): boolean {
  const { text, at, lexis } = lexer;
  const { escapes } = lexis;
  const character = text[at] as string;
  if (lexis.tripleQuotes && (character === "'" || character === '"') && text.startsWith(character.repeat(3), at)) {
    skipTriple(lexer, character.repeat(3));
    return true;
  }
  if (character === "'" || character === '"' || (escapes && character === '`')) {
    skipTo(lexer, character, escapes && character !== '`');
    return true;
  }
  if (!escapes && /e/i.test(character) && text[at + 1] === "'") {
    lexer.at++;
    skipTo(lexer, "'", true);
    return true;
  }
  if (text.startsWith('/*', at) && isExecutable(lexer)) {
    lexer.at = indexAfter(text, '*/', at + 2);
    return true;
  }
  if (!lexis.dollarQuotes) return false;
  DOLLAR_QUOTE.lastIndex = at;
  const [quote] = DOLLAR_QUOTE.exec(text) ?? [];
  if (quote === undefined) return false;
  lexer.at = indexAfter(text, quote, at + quote.length);
  return true;
}

/** Moves past the closing triple quote; a backslash escapes a character. */
function skipTriple(lexer: Lexer, quote: string): void {
  const { text } = lexer;
  let at = lexer.at + quote.length;
  while (at < text.length && !text.startsWith(quote, at)) at += text[at] === '\\' ? 2 : 1;
  lexer.at = Math.min(at + quote.length, text.length);
}

/**
 * Moves past the closing quote. A doubled quote, and a quote after a line break, ends a string and begins the next one. Without escapes
 * this makes no difference; a string with escapes continues with escapes.
 */
function skipTo(lexer: Lexer, quote: string, escapes: boolean): void {
  const { text } = lexer;
  let at: number | undefined = lexer.at + 1;
  for (;;) {
    while (at < text.length && text[at] !== quote) at += escapes && text[at] === '\\' ? 2 : 1;
    lexer.at = Math.min(at + 1, text.length);
    if (!escapes) return;
    const next: number | undefined = text[lexer.at] === quote ? lexer.at : continuedAt(text, lexer.at);
    if (next === undefined) return;
    at = next + 1;
  }
}

/**
 * Position of the quote that continues the string that ends before `at`, if there is one. Between them are whitespace and line comments
 * with at least one line break (PostgreSQL's `quotecontinue`).
 */
function continuedAt(text: string, at: number): number | undefined {
  let hasBreak = false;
  for (let place = at; place < text.length; place++) {
    const character = text[place] as string;
    if (character === '\n' || character === '\r') hasBreak = true;
    else if (character === '-' && text[place + 1] === '-') {
      while (place + 1 < text.length && text[place + 1] !== '\n' && text[place + 1] !== '\r') place++;
    } else if (!/[ \t\f\v]/.test(character)) return hasBreak && character === "'" ? place : undefined;
  }
  return undefined;
}

/** Change of `blocks` by a word: bodies of functions and procedures may be unquoted, BEGIN ATOMIC … END. */
function blockChange(word: string, words: readonly string[], blocks: number): number {
  const [create, second, third, fourth] = words;
  const created = second === 'or' && third === 'replace' ? fourth : second;
  if (create !== 'create' || (created !== 'function' && created !== 'procedure')) return 0;
  if (word === 'begin' || (word === 'case' && blocks > 0)) return 1;
  return word === 'end' && blocks > 0 ? -1 : 0;
}
