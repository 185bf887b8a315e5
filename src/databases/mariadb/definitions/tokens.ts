/** Lexer for SQL of administrators. */

export interface SqlToken {
  readonly kind: 'word' | 'name' | 'text' | 'sign';
  /** Names are unquoted. */
  readonly text: string;
}

/** Skips white space and comments, but reads executable comments. An unterminated text extends to the end. */
export function tokensOf(sql: string): readonly SqlToken[] {
  const tokens: SqlToken[] = [];
  let openComments = 0;
  for (let at = 0; at < sql.length; ) {
    const rest = sql.slice(at, at + 8);
    const character = sql[at] as string;
    if (/\s/.test(character)) at++;
    else if (character === '#' || (rest.startsWith('--') && (rest[2] ?? ' ') <= ' ')) at = indexAfter(sql, '\n', at);
    else if (/^\/\*M?!/.test(rest)) {
      at += /^\/\*M?!\d{0,6}/.exec(sql.slice(at, at + 16))?.[0].length ?? 3;
      openComments++;
    } else if (rest.startsWith('/*')) at = indexAfter(sql, '*/', at + 2);
    else if (openComments > 0 && rest.startsWith('*/')) {
      at += 2;
      openComments--;
    } else if (character === '`') {
      const end = quotedEnd(sql, at, false);
      tokens.push({ kind: 'name', text: sql.slice(at + 1, end - 1).replaceAll('``', '`') });
      at = end;
    } else if (character === "'" || character === '"') {
      const end = quotedEnd(sql, at, true);
      tokens.push({ kind: 'text', text: sql.slice(at, end) });
      at = end;
    } else {
      const word = /^[\p{L}\p{N}_$]+/u.exec(sql.slice(at, at + 256))?.[0];
      tokens.push(word === undefined ? { kind: 'sign', text: character } : { kind: 'word', text: word });
      at += word?.length ?? 1;
    }
  }
  return tokens;
}

/** Returns the index after a text; the length of the whole if it does not occur. */
export function indexAfter(text: string, what: string, from: number): number {
  const found = text.indexOf(what, from);
  return found === -1 ? text.length : found + what.length;
}

/** Returns the index after the closing quote. A doubled quote stands for itself; with escapes, so does one after a backslash. */
export function quotedEnd(text: string, start: number, hasEscapes: boolean): number {
  const quote = text[start] as string;
  for (let at = start + 1; at < text.length; at++) {
    if (hasEscapes && text[at] === '\\') at++;
    else if (text[at] === quote) {
      if (text[at + 1] !== quote) return at + 1;
      at++;
    }
  }
  return text.length;
}

/** Splits statements at semicolons, including those in the bodies of routines. */
export function statementsOf(tokens: readonly SqlToken[]): readonly (readonly SqlToken[])[] {
  const statements: SqlToken[][] = [[]];
  for (const token of tokens) {
    if (token.kind === 'sign' && token.text === ';') statements.push([]);
    else statements.at(-1)?.push(token);
  }
  return statements.filter(({ length }) => length > 0);
}

export class TokenReader {
  readonly #tokens: readonly SqlToken[];
  #at = 0;

  constructor(tokens: readonly SqlToken[]) {
    this.#tokens = tokens;
  }

  get isDone(): boolean {
    return this.#at >= this.#tokens.length;
  }

  /** Skips these words, in any case, if they come next. */
  take(...words: readonly string[]): boolean {
    const isNext = words.every((word, i) => {
      const token = this.#tokens[this.#at + i];
      return token !== undefined && token.kind !== 'name' && token.kind !== 'text' && token.text.toLowerCase() === word;
    });
    if (isNext) this.#at += words.length;
    return isNext;
  }

  isNext(word: string): boolean {
    const token = this.#tokens[this.#at];
    return token?.kind === 'word' && token.text.toLowerCase() === word;
  }

  /** Skips a sign. */
  takeSign(): boolean {
    if (this.#tokens[this.#at]?.kind !== 'sign') return false;
    this.#at++;
    return true;
  }

  /** Reads a name, quoted or not; returns `null` if there is none. */
  name(): string | null {
    const token = this.#tokens[this.#at];
    if (token === undefined || (token.kind !== 'word' && token.kind !== 'name')) return null;
    this.#at++;
    return token.text;
  }

  /** Reads up to the next comma outside parentheses, and skips the comma. */
  upToComma(): TokenReader {
    const start = this.#at;
    for (let depth = 0; this.#at < this.#tokens.length; this.#at++) {
      const { kind, text } = this.#tokens[this.#at] as SqlToken;
      if (kind !== 'sign') continue;
      if (text === '(') depth++;
      else if (text === ')') depth--;
      else if (text === ',' && depth === 0) {
        this.#at++;
        return new TokenReader(this.#tokens.slice(start, this.#at - 1));
      }
    }
    return new TokenReader(this.#tokens.slice(start));
  }

  /** Reads a type with its length, if it has one. */
  typeText(): { readonly name: string; readonly length: string; readonly isUnsigned: boolean } | null {
    const name = this.name();
    if (name === null) return null;
    let length = '';
    if (this.take('(')) for (; !this.isDone && !this.take(')'); this.#at++) length += this.#tokens[this.#at]?.text ?? '';
    if (name.toLowerCase() === 'double') this.take('precision');
    let isUnsigned = false;
    while (!this.isDone) {
      if (this.take('unsigned')) isUnsigned = true;
      else if (this.take('zerofill')) isUnsigned = true;
      else if (!this.take('signed')) break;
    }
    return { name: name.toLowerCase(), length, isUnsigned };
  }
}
