import { SvcError } from '../../../errors/svc-error.ts';
import { type Token, statementsOf, tokensOf } from './tokens.ts';

/** What reads, and what the server itself refuses in a transaction that is read-only. */
const ALLOWED: ReadonlySet<string> = new Set([
  ...['select', 'with', 'values', 'show', 'describe', 'desc', 'explain', 'analyze', 'do', 'help', '('],
  ...['insert', 'update', 'delete', 'replace', 'create', 'alter', 'drop', 'truncate'],
]);

/**
 * Refuses what leads out of a session that is read-only: the ends of transactions, its settings and the server's, what hides a statement
 * from whoever reads the text, and files.
 * @throws SvcError bad-request
 */
export function refuseWritable(sql: string): void {
  // Which of them the server reads depends on its version.
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

/** `set @one = 1, @two = 2`, and nothing of the session or of the server. */
function setsVariables(statement: readonly Token[]): boolean {
  let depth = 0;
  return statement.every(({ kind, text }, at) => {
    if (kind === 'sign' && text === '(') depth++;
    if (kind === 'sign' && text === ')') depth--;
    const isStart = at === 0 || (depth === 0 && kind === 'sign' && text === ',');
    const [next, afterNext] = [statement[at + 1], statement[at + 2]];
    return !isStart || (isSign(next, '@') && !isSign(afterNext, '@'));
  });
}

function isSign(token: Token | undefined, sign: string): boolean {
  return token?.kind === 'sign' && token.text === sign;
}

function isWord(token: Token | undefined, ...words: readonly string[]): boolean {
  return token?.kind === 'word' && words.includes(token.text.toLowerCase());
}

function refuse(what: string): never {
  throw new SvcError('bad-request', `read-only SQL runs in a session that stays as it is, so that it cannot have ${what}`);
}
