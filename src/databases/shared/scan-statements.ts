/** Finds the statements in SQL of migrations, and those that begin and end transactions. */
import type { ScannedSql, ScannedStatement } from '../../backend/migration-dialect.ts';
import { endOfBlank, firstWords, placedStatements } from '../../model/split-statements.ts';

const OPENS = /^(?:begin|start transaction)\b/;
const CLOSES = /^(?:commit|end)\b/;
/** Statements of SQL and its transaction control. */
export type ScannedStatements = Pick<ScannedSql, 'statements' | 'control' | 'unwrapped' | 'joined'>;

/**
 * Finds the statements of a migration or seed.
 * @param controls beginnings of statements that begin or end transactions
 * @param bare text of the same length without syntax that PostgreSQL would read in another way than the database
 */
export function scanStatements(text: string, controls: RegExp, bare: string = text): ScannedStatements {
  const statements: ScannedStatement[] = [];
  const lineAt = lineCounter(bare);
  for (const { text: statement, at } of placedStatements(bare)) {
    const head = headOf(statement);
    const shown = bare === text ? statement : text.slice(at, at + statement.length);
    statements.push({ text: shown, at, line: lineAt(at + head.skipped), words: head.words });
  }
  const control = statements.filter((each) => controls.test(beginningOf(each)));
  return {
    statements,
    control,
    unwrapped: isAround(statements, control) ? without(text, control) : undefined,
    joined: isJoinable(statements, control) ? without(text, control) : undefined,
  };
}

/** Returns the first words of a statement, with one blank between them. */
export function beginningOf({ words }: Pick<ScannedStatement, 'words'>): string {
  return words.join(' ');
}

/** Returns a function that converts increasing offsets to lines in one pass: dumps have very many statements. */
export function lineCounter(text: string): (offset: number) => number {
  let line = 1;
  let next = text.indexOf('\n');
  return (offset) => {
    for (; next >= 0 && next < offset; next = text.indexOf('\n', next + 1)) line += 1;
    return line;
  };
}

/** Maximum number of words by which a statement is recognised. */
const MAX_WORDS = 6;

function headOf(text: string): { readonly skipped: number; readonly words: readonly string[] } {
  return { skipped: endOfBlank(text, 0), words: firstWords(text, MAX_WORDS) };
}

/** Returns whether the only `begin` and the only `commit` enclose all statements. */
function isAround(statements: readonly ScannedStatement[], control: readonly ScannedStatement[]): boolean {
  const [first, last] = [statements[0], statements.at(-1)];
  if (control.length !== 2 || first === undefined || last === undefined) return false;
  return control[0] === first && control[1] === last && isPlain(first, OPENS) && isPlain(last, CLOSES);
}

/** Returns whether the statements mean the same in one transaction: local settings would outlive the end of their own transaction. */
function isJoinable(statements: readonly ScannedStatement[], control: readonly ScannedStatement[]): boolean {
  if (control.length > 0 && statements.some(({ words: [first, second] }) => first === 'set' && second === 'local')) return false;
  return control.every((each) => isPlain(each, OPENS) || isPlain(each, CLOSES));
}

/** Returns whether a statement has no options, which would be lost with it. */
function isPlain(statement: ScannedStatement, pattern: RegExp): boolean {
  return pattern.test(beginningOf(statement)) && statement.words.length <= 2;
}

/** Replaces statements by blanks, so that line numbers stay the same. */
function without(sql: string, statements: readonly ScannedStatement[]): string {
  let text = '';
  let from = 0;
  for (const { at, text: statement } of statements) {
    const end = at + statement.length;
    const semicolon = /^\s*;/.exec(sql.slice(end, end + 100))?.[0].length ?? 0;
    text += sql.slice(from, at) + sql.slice(at, end + semicolon).replace(/[^\n]/g, ' ');
    from = end + semicolon;
  }
  return text + sql.slice(from);
}
