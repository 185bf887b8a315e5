import { SvcError } from '../../../errors/svc-error.ts';
import { type SqlToken, statementsOf, tokensOf } from './tokens.ts';

/** Statements that read, and those that the server itself refuses in a read-only transaction. */
const ALLOWED: ReadonlySet<string> = new Set([
  ...['select', 'with', 'values', 'show', 'describe', 'desc', 'explain', 'analyze', 'do', 'help', '('],
  ...['insert', 'update', 'delete', 'replace', 'create', 'alter', 'drop', 'truncate'],
]);

/**
 * Refuses whatever could escape from a read-only session: ends of transactions, settings of the session and the server, hidden
 * statements, and files.
 * @throws SvcError bad-request
 */
export function refuseWritable(sql: string): void {
  // The server's version decides which of them it executes.
  if (/\/\*M?!/.test(sql)) refuse('executable comments');
  for (const statement of statementsOf(tokensOf(sql))) {
    const [first, second] = statement;
    const word = first === undefined || first.kind === 'name' || first.kind === 'text' ? '' : first.text.toLowerCase();
    const isAllowed = word === 'set' ? setsVariables(statement) : ALLOWED.has(word);
    if (!isAllowed || (word === 'analyze' && isWord(second, 'table', 'local', 'no_write_to_binlog')))
      refuse(`the statement "${first?.text}"`);
    if (statement.some((token) => isWord(token, 'outfile', 'dumpfile'))) refuse('the statement "into outfile"');
  }
}

/** Matches `set @one = 1, @two = 2`, without variables of the session or the server. */
function setsVariables(statement: readonly SqlToken[]): boolean {
  let depth = 0;
  return statement.every(({ kind, text }, at) => {
    if (kind === 'sign' && text === '(') depth++;
    if (kind === 'sign' && text === ')') depth--;
    const isStart = at === 0 || (depth === 0 && kind === 'sign' && text === ',');
    const [next, afterNext] = [statement[at + 1], statement[at + 2]];
    return !isStart || (isSign(next, '@') && !isSign(afterNext, '@'));
  });
}

function isSign(token: SqlToken | undefined, sign: string): boolean {
  return token?.kind === 'sign' && token.text === sign;
}

function isWord(token: SqlToken | undefined, ...words: readonly string[]): boolean {
  return token?.kind === 'word' && words.includes(token.text.toLowerCase());
}

function refuse(what: string): never {
  throw new SvcError('bad-request', `read-only SQL must leave its session unchanged, so it cannot have ${what}`);
}
