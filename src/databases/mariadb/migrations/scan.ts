import type { ScannedSql } from '../../../backend/migration-dialect.ts';
import { beginningOf, scanStatements } from '../../shared/scan-statements.ts';
import { indexAfter, quotedEnd } from '../definitions/tokens.ts';

const CONTROL = /^(?:begin|start transaction|commit|rollback(?! (?:work )?to\b))\b/;
const ROUTINE = /^create (?:or replace )?(?:definer ?= ?\S+ )?(?:aggregate )?(?:procedure|function|trigger|event|package)\b/;

/** Scans SQL of MariaDB: names in backticks, backslash escapes and other comments; `end` closes blocks, not transactions. */
export function scanSql(sql: string): ScannedSql {
  const scanned: ScannedSql = { ...scanStatements(sql, CONTROL, bareSql(sql)), outside: [], foreign: delimiters(sql), enumValues: [] };
  // A `commit` inside a routine belongs to it.
  const hasRoutine = scanned.control.length > 0 && scanned.statements.some((each) => ROUTINE.test(beginningOf(each)));
  return hasRoutine ? { ...scanned, unwrapped: undefined, joined: undefined } : scanned;
}

/** Finds changes of the delimiter, which dumps and scripts for the client have around routines. */
function delimiters(sql: string): ScannedSql['foreign'] {
  return bareSql(sql)
    .split('\n')
    .flatMap((line, i) => (/^\s*delimiter\s+\S/i.test(line) ? [{ line: i + 1, what: 'delimiter', client: 'the mariadb client' }] : []));
}

/** Starts of texts, quoted names and comments; unlike in PostgreSQL, a dollar sign starts no text. */
const OPENERS = /['"`#$]|--|\/\*/g;

/** Returns a text of the same length, with comments blanked and characters masked that could end a text or a quoted name. */
function bareSql(sql: string): string {
  const pieces: string[] = [];
  let at = 0;
  for (;;) {
    OPENERS.lastIndex = at;
    const found = OPENERS.exec(sql);
    if (found === null) return pieces.join('') + sql.slice(at);
    const { 0: opener, index } = found;
    const end = endOfPiece(sql, index, opener);
    const piece = sql.slice(index, end);
    const isComment = opener === '#' || opener === '--' || (opener === '/*' && !/^..M?!/.test(piece));
    pieces.push(sql.slice(at, index));
    if (isComment) pieces.push(piece.replace(/[^\n]+/g, blanks));
    else if (opener === '$' || piece.length < 2 * opener.length) pieces.push(underscores(piece));
    else {
      const [from, to] = [opener.length, piece.length - opener.length];
      pieces.push(opener, piece.slice(from, to).replace(/[^\w\n]+/g, underscores), piece.slice(to));
    }
    at = end;
  }
}

const blanks = (text: string): string => ' '.repeat(text.length);
const underscores = (text: string): string => '_'.repeat(text.length);

/** Returns the index after the piece, or the length of an unterminated text. */
function endOfPiece(sql: string, index: number, opener: string): number {
  if (opener === '$') return index + 1;
  // Two minus signs start a comment only before white space.
  if (opener === '--' && /\S/.test(sql.charAt(index + 2))) return index + 2;
  if (opener === '#' || opener === '--') return indexAfter(sql, '\n', index);
  return opener === '/*' ? indexAfter(sql, '*/', index + 2) : quotedEnd(sql, index, opener !== '`');
}

/** Removes what follows the last statement and adds a semicolon: MariaDB refuses empty statements. Returns '' without a statement. */
export function terminated(sql: string): string {
  const bare = bareSql(sql).trimEnd();
  if (bare === '') return '';
  const text = sql.slice(0, bare.length);
  return bare.endsWith(';') ? `${text}\n` : `${text}\n;\n`;
}

/** Starts of statements that contain others, or that may have run in part when they fail. */
const IN_PARTS =
  /^(?:drop|create\s+or\s+replace|rename|call|execute|prepare|do|load|set|use|lock|flush|begin|start|commit|rollback|xa|if|for|while|repeat|loop|case|delimiter)\b/i;
const COMPOUND = /^create\s+(?:definer\s*=\s*\S+\s+)?(?:aggregate\s+)?(?:procedure|function|trigger|event|package)\b/i;
/** Returns the index after the first statement, or `undefined` if it is uncertain or the statement may run in part. */
export function endOfFirst(sql: string): number | undefined {
  const bare = bareSql(sql);
  const head = bare.trimStart();
  const end = bare.indexOf(';');
  // Remaining comments are executable.
  if (end < 0 || IN_PARTS.test(head) || COMPOUND.test(head) || bare.slice(0, end).includes('/*')) return undefined;
  return end + 1;
}
