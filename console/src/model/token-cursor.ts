/** Reads the tokens of a GraphQL document one by one, without its comments. */
import type { Token } from './graphql-document.ts';

export class TokenCursor {
  readonly #tokens: readonly Token[];
  readonly #unexpected: (expected: string, found: Token | undefined) => Error;
  #at = 0;

  /** @param unexpected makes the error for a token that is not the expected one; the token is undefined at the end of the document */
  constructor(tokens: readonly Token[], unexpected: (expected: string, found: Token | undefined) => Error) {
    this.#tokens = tokens.filter(({ kind }) => kind !== 'comment');
    this.#unexpected = unexpected;
  }

  /** Next token; undefined at the end. */
  get next(): Token | undefined {
    return this.#tokens[this.#at];
  }

  /** Token that was read last. */
  get last(): Token | undefined {
    return this.#tokens[this.#at - 1];
  }

  fail(expected: string): never {
    throw this.#unexpected(expected, this.next);
  }

  /** Returns true if the next token has this text. */
  has(text: string): boolean {
    return this.next?.text === text;
  }

  /** Reads any token. @throws an error at the end */
  any(expected: string): Token {
    const token = this.next ?? this.fail(expected);
    this.#at++;
    return token;
  }

  /** Reads a token if it has this text; returns whether it does. */
  skip(text: string): boolean {
    const isNext = this.has(text);
    if (isNext) this.#at++;
    return isNext;
  }

  take(text: string): Token {
    return this.has(text) ? this.any(text) : this.fail(text);
  }

  ofKind(kind: Token['kind'], expected: string): Token {
    return this.next?.kind === kind ? this.any(expected) : this.fail(expected);
  }

  /** Reads a description if there is one: its text with quotes. */
  description(): string | undefined {
    return this.next?.kind === 'string' ? this.any('a description').text : undefined;
  }

  /** Reads a type such as `[Item!]!`. @param named describes the name of a type, for the error */
  type(named: string): string {
    let core: string;
    if (this.skip('[')) {
      core = `[${this.type(named)}]`;
      this.take(']');
    } else core = this.ofKind('name', named).text;
    return this.skip('!') ? `${core}!` : core;
  }
}
