/** Lexical rules of an SQL dialect: how comments, strings and quoted names begin and end. */
export interface SqlLexis {
  /** A backslash escapes in all strings, and backticks quote names. */
  readonly escapes: boolean;
  /** `#` begins a comment. */
  readonly hashComments: boolean;
  /** `--` begins a comment only before white space: `5--1` is a subtraction. */
  readonly spacedDashes: boolean;
  /** A comment in a comment has its own end. */
  readonly nestedComments: boolean;
  /** A comment that begins with `!` or `M!` contains code. */
  readonly executableComments: boolean;
  /** `$tag$` quotes text. */
  readonly dollarQuotes: boolean;
  /** `'''` and `"""` quote strings. */
  readonly tripleQuotes: boolean;
}

/** Rules of standard SQL, with nested comments and texts in dollar quotes. */
export const STANDARD_LEXIS: SqlLexis = {
  escapes: false,
  hashComments: false,
  spacedDashes: false,
  nestedComments: true,
  executableComments: false,
  dollarQuotes: true,
  tripleQuotes: false,
};
