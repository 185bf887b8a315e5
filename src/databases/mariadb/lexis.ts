import type { SqlLexis } from '../../model/sql-lexis.ts';

export const LEXIS: SqlLexis = {
  escapes: true,
  hashComments: true,
  spacedDashes: true,
  nestedComments: false,
  executableComments: true,
  dollarQuotes: false,
  tripleQuotes: false,
};
