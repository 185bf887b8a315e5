/**
 * Splits SQL text at the semicolons that end statements: not at those in quotes, comments,
 * parentheses (rules) and the bodies of functions between BEGIN and END.
 */

interface Lexer {
  readonly text: string;
  at: number;
}

/** Statements with their comments, without the semicolons; parts without a statement are left out. */
export function splitStatements(sql: string): readonly string[] {
  return split(sql, true).map(({ text }) => text);
}

export interface PlacedStatement {
  readonly text: string;
  /** Where it begins, in characters of the whole. */
  readonly at: number;
}

/** The same with their places. */
export function placedStatements(sql: string): readonly PlacedStatement[] {
  return split(sql, true);
}

/**
 * The first statement that begins or ends a transaction, as PostgreSQL reads the text: nothing hides one, not even a routine or a
 * column that is called like the word that begins a body.
 */
export function transactionControlIn(sql: string): string | undefined {
  let isInBody = false;
  for (const { text: piece } of split(sql, false)) {
    if (isInBody && firstWord(piece) === 'end') isInBody = false;
    else if (isTransactionControl(piece)) return piece;
    else if (!isInBody) isInBody = opensBody(piece);
  }
  return undefined;
}

/** Whether the body of a routine begins in it and goes on behind it. No other two words begin one, and a body has none within. */
function opensBody(piece: string): boolean {
  const lexer: Lexer = { text: piece, at: 0 };
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

/** @param hasBodies whether those of routines that are written without quotes are parts of their statements */
function split(sql: string, hasBodies: boolean): readonly PlacedStatement[] {
  const lexer: Lexer = { text: sql, at: 0 };
  const statements: PlacedStatement[] = [];
  let start = 0;
  let parentheses = 0;
  /** BEGIN and CASE inside a function's body that wait for their END. */
  let blocks = 0;
  let words: string[] = [];
  let empty = true;
  const end = (): void => {
    if (!empty) {
      const given = sql.slice(start, lexer.at);
      statements.push({ text: given.trim(), at: start + given.length - given.trimStart().length });
    }
    parentheses = 0;
    blocks = 0;
    words = [];
    empty = true;
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
    empty = false;
    const word = readWord(lexer);
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

/** What a statement begins with, in lower case; the empty text when that is no word. */
export function firstWord(statement: string): string {
  const lexer: Lexer = { text: statement, at: endOfBlank(statement, 0) };
  return lexer.at < statement.length ? (readWord(lexer) ?? '') : '';
}

/** Where the whitespace and the comments that begin at a place end. */
export function endOfBlank(text: string, at: number): number {
  const lexer: Lexer = { text, at };
  while (lexer.at < text.length && skipBlank(lexer)) {
    // one after the other
  }
  return lexer.at;
}

/** A blank in place of whitespace and comments. Texts in quotes are not told from others. */
export function withoutComments(sql: string): string {
  let bare = '';
  for (let at = 0; at < sql.length; ) {
    const end = endOfBlank(sql, at);
    if (end > at) bare += ' ';
    else bare += sql[at];
    at = Math.max(end, at + 1);
  }
  return bare;
}

/** Whether a statement begins or ends a transaction; not so with savepoints. */
export function isTransactionControl(statement: string): boolean {
  const from = endOfBlank(statement, 0);
  const head = withoutComments(statement.slice(from, from + LONGEST_HEAD))
    .replace(/\s+/g, ' ')
    .toLowerCase();
  return /^(?:begin|start transaction|commit|end|abort|prepare transaction|rollback(?! (?:(?:work|transaction) )?to\b))\b/.test(head);
}

const LONGEST_HEAD = 400;

/** A carriage return ends a line, too. */
const LINE_END = /[\n\r]/g;

/** Whitespace and comments, which nest. */
function skipBlank(lexer: Lexer): boolean {
  const { text, at } = lexer;
  if (/\s/.test(text[at] as string)) {
    lexer.at++;
    return true;
  }
  if (text.startsWith('--', at)) {
    LINE_END.lastIndex = at;
    lexer.at = LINE_END.exec(text)?.index ?? text.length;
    return true;
  }
  if (!text.startsWith('/*', at)) return false;
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

const WORD = /[A-Za-z_\u0080-\uffff][\w$\u0080-\uffff]*/y;

/** A keyword or plain name in lower case; not the letter in front of a quote. */
function readWord(lexer: Lexer): string | null {
  WORD.lastIndex = lexer.at;
  const [word] = WORD.exec(lexer.text) ?? [];
  if (word === undefined) return null;
  // E'\'' has escapes; in other strings a backslash is a character like any other.
  if (/^e$/i.test(word) && lexer.text[lexer.at + 1] === "'") return null;
  lexer.at += word.length;
  return word.toLowerCase();
}

const DOLLAR_QUOTE = /\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$/y;

/** A string, a quoted name or a dollar-quoted text; up to the end when it is not closed. */
function skipQuoted(lexer: Lexer): boolean {
  const { text, at } = lexer;
  const character = text[at] as string;
  if (character === "'" || character === '"') {
    skipTo(lexer, character, false);
    return true;
  }
  if (/e/i.test(character) && text[at + 1] === "'") {
    lexer.at++;
    skipTo(lexer, "'", true);
    return true;
  }
  DOLLAR_QUOTE.lastIndex = at;
  const [quote] = DOLLAR_QUOTE.exec(text) ?? [];
  if (quote === undefined) return false;
  const close = text.indexOf(quote, at + quote.length);
  lexer.at = close < 0 ? text.length : close + quote.length;
  return true;
}

/** Past the closing quote; a doubled one ends a string and begins the next, which comes to the same. */
function skipTo(lexer: Lexer, quote: string, escapes: boolean): void {
  const { text } = lexer;
  let at = lexer.at + 1;
  while (at < text.length && text[at] !== quote) at += escapes && text[at] === '\\' ? 2 : 1;
  // The doubled quote of a string with escapes goes on with escapes.
  if (escapes && text[at + 1] === quote) {
    lexer.at = at + 1;
    skipTo(lexer, quote, true);
    return;
  }
  lexer.at = Math.min(at + 1, text.length);
}

/** Bodies of functions and procedures may be written without quotes: BEGIN ATOMIC … END. */
function blockChange(word: string, words: readonly string[], blocks: number): number {
  const [create, second, third, fourth] = words;
  const created = second === 'or' && third === 'replace' ? fourth : second;
  if (create !== 'create' || (created !== 'function' && created !== 'procedure')) return 0;
  if (word === 'begin' || (word === 'case' && blocks > 0)) return 1;
  return word === 'end' && blocks > 0 ? -1 : 0;
}
