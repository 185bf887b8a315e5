import type { SqlText } from '../../backend/sql-text.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { placedStatements, transactionControlIn } from '../../model/split-statements.ts';
import { mayChangeCatalog } from '../shared/may-change-catalog.ts';

/** First words of statements that begin or end transactions: statements after the end of a read-only transaction could write. */
const TRANSACTION_WORDS: ReadonlySet<string> = new Set(['begin', 'start', 'commit', 'end', 'rollback', 'abort', 'prepare']);
/** First words of statements that run programs and write files in a read-only transaction too, or that may contain such statements. */
const EFFECT_WORDS: ReadonlySet<string> = new Set(['copy', 'do', 'call', 'load']);

function requireReads(sql: string): void {
  for (const { word } of placedStatements(sql)) {
    if (TRANSACTION_WORDS.has(word)) {
      throw new SvcError('bad-request', `read-only SQL runs in its own transaction and cannot contain the statement "${word}"`);
    }
    if (EFFECT_WORDS.has(word)) throw new SvcError('bad-request', `read-only SQL cannot contain the statement "${word}"`);
  }
}

/** Analysis of SQL of administrators for PostgreSQL. */
export const sqlText = {
  mayChangeCatalog,
  requireReads,
  statements: placedStatements,
  transactionControl: transactionControlIn,
} satisfies SqlText;
