/**
 * Splits SQL text at the semicolons that end statements: not at those in quotes, comments,
 * parentheses (rules) and the bodies of functions between BEGIN and END.
 */
/** A statement in a text of SQL. */
export interface SqlStatement {
  /** With its comments, without the semicolon that ends it. */
  readonly text: string;
  /** Index of its first character in the whole text, in UTF-16 code units. */
  readonly at: number;
  /** First word in lower case; empty if the statement begins with something else. */
  readonly word: string;
}

interface Lexer {
  readonly text: string;
  at: number;
  /** Backslashes escape in all strings, and backticks quote names. */
  readonly escapes?: boolean;
}

/**
 * Returns statements with their comments, without the semicolons; parts without a statement are left out.
 * @param escapes whether backslashes escape in all strings and backticks quote names; by default neither does
 */
export function placedStatements(sql: string, escapes = false): readonly SqlStatement[] {
  return split(sql, true, escapes);
}

/**
 * The first statement that begins or ends a transaction, as PostgreSQL reads the text: nothing hides one, not even a routine or a
 * column that is called like the word that begins a body.
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
function split(sql: string, hasBodies: boolean, escapes = false): readonly SqlStatement[] {
  const lexer: Lexer = { text: sql, at: 0, escapes };
  const statements: SqlStatement[] = [];
  let start = 0;
  let parentheses = 0;
  /** BEGIN and CASE inside a function's body that wait for their END. */
  let blocks = 0;
  let words: string[] = [];
  /** First word of the statement; null before its first character. */
  let first: string | null = null;
  const end = (): void => {
    if (first !== null) {
      const given = sql.slice(start, lexer.at);
      statements.push({ text: given.trim(), at: start + given.length - given.trimStart().length, word: first });
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

/** Where the whitespace and the comments that begin at a place end. */
export function endOfBlank(text: string, at: number): number {
  const lexer: Lexer = { text, at };
  while (lexer.at < text.length && skipBlank(lexer)) {
    // one after the other
  }
  return lexer.at;
}

/** The end of SQL before a literal that holds code: the body of a routine or of `do`, or dynamic SQL. */
const BEFORE_CODE = /\b(?:as|execute|do(?: language \S+)?) ?$/i;
/** Maximum length of what `BEFORE_CODE` reads, in characters. */
const TAIL = 90;

/**
 * Returns SQL with one blank in place of whitespace and comments, those in bodies of routines included.
 * @param literal returns the replacement of a name in quotes or a literal that holds no code; they are kept by default
 */
export function withoutComments(sql: string, literal: (text: string) => string = (text) => text): string {
  const lexer: Lexer = { text: sql, at: 0 };
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
      add((BEFORE_CODE.test(tail) ? codeOf(text, literal) : undefined) ?? literal(text));
    }
    from = lexer.at;
  }
  add(sql.slice(from));
  return pieces.join('');
}

/** Returns a literal that holds code without the comments of the code; `undefined` if it is none. */
function codeOf(text: string, literal: (text: string) => string): string | undefined {
  const [quote] = /^'|^\$\w*\$/.exec(text) ?? [];
  if (quote === undefined || text.length < 2 * quote.length || !text.endsWith(quote)) return undefined;
  const inside = text.slice(quote.length, -quote.length);
  if (quote !== "'") return quote + withoutComments(inside, literal) + quote;
  return `'${withoutComments(inside.replaceAll("''", "'"), literal).replaceAll("'", "''")}'`;
}

/** Whether a statement begins or ends a transaction; not so with savepoints. */
export function isTransactionControl(statement: string): boolean {
  const from = endOfBlank(statement, 0);
  const head = withoutComments(statement.slice(from, from + LONGEST_HEAD))
    .replace(/\s+/g, ' ')
    .toLowerCase();
  return TRANSACTION_CONTROL.test(head);
}

/** Beginnings of statements that begin or end a transaction, in lower case with single blanks; savepoints are none. */
export const TRANSACTION_CONTROL =
  /^(?:begin|start transaction|commit|end|abort|prepare transaction|rollback(?! (?:(?:work|transaction) )?to\b))\b/;

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
  const { text, at, escapes = false } = lexer;
  const character = text[at] as string;
  if (character === "'" || character === '"' || (escapes && character === '`')) {
    skipTo(lexer, character, escapes && character !== '`');
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

/**
 * Moves past the closing quote. A doubled quote, and a quote behind a line break, ends a string and begins the next: without escapes that
 * comes to the same, and a string with escapes goes on with escapes.
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
 * Place of the quote that goes on with the string that ends before `at`; undefined if none does. Between them stand white space and line
 * comments with at least one line break (PostgreSQL's `quotecontinue`).
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

/** Bodies of functions and procedures may be written without quotes: BEGIN ATOMIC … END. */
function blockChange(word: string, words: readonly string[], blocks: number): number {
  const [create, second, third, fourth] = words;
  const created = second === 'or' && third === 'replace' ? fourth : second;
  if (create !== 'create' || (created !== 'function' && created !== 'procedure')) return 0;
  if (word === 'begin' || (word === 'case' && blocks > 0)) return 1;
  return word === 'end' && blocks > 0 ? -1 : 0;
}
