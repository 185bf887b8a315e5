/** Scans SQL of migrations for statements that PostgreSQL refuses in a transaction, commands of psql, and new enum values. */
import type { ScannedSql, ScannedStatement } from '../../../backend/migration-dialect.ts';
import { TRANSACTION_CONTROL } from '../../../model/split-statements.ts';
import { beginningOf, scanStatements } from '../../shared/scan-statements.ts';

/** Beginnings of statements that PostgreSQL refuses in a transaction. */
const OUTSIDE: readonly RegExp[] = [
  /^create (?:unique )?index concurrently\b/,
  /^drop index concurrently\b/,
  /^reindex (?:\(.*\) )?(?:(?:index|table|schema|database|system) )?concurrently\b/,
  /^reindex (?:schema|database|system)\b/,
  /^vacuum\b/,
  /^alter system\b/,
  /^(?:create|drop) database\b/,
  /^(?:create|drop) tablespace\b/,
  /^alter database \S+ set tablespace\b/,
  /^(?:create|drop) subscription\b/,
  /^discard all\b/,
  /^cluster$/,
];
const DETACH = /\bdetach\s+partition\s+\S+\s+concurrently\b/i;
const CLIENT = 'psql';
const META_COMMAND = /^\\[a-zA-Z!?.]/;
const FROM_STDIN = /\bfrom\s+stdin\b/i;
const ADDED_VALUE = /\badd\s+value\s+(?:if\s+not\s+exists\s+)?'((?:[^']|'')*)'/i;

/** Scans the SQL of a migration or seed. */
export function scanSql(text: string): ScannedSql {
  const commands = metaCommands(text);
  const scanned = scanStatements(text, TRANSACTION_CONTROL, withoutLines(text, commands));
  const { statements } = scanned;
  return {
    ...scanned,
    outside: statements.filter(
      (each) => OUTSIDE.some((pattern) => pattern.test(beginningOf(each))) || (each.words[0] === 'alter' && DETACH.test(each.text)),
    ),
    foreign: [
      ...commands,
      ...statements
        .filter((each) => each.words[0] === 'copy' && FROM_STDIN.test(each.text))
        .map(({ line }) => ({ line, what: 'copy from stdin', client: CLIENT })),
    ],
    enumValues: usedEnumValues(statements),
  };
}

/** Replaces commands by blanks: they end with their line, not with a semicolon. */
function withoutLines(text: string, commands: ScannedSql['foreign']): string {
  if (commands.length === 0) return text;
  const lines = new Set(commands.map(({ line }) => line));
  return text
    .split('\n')
    .map((each, i) => (lines.has(i + 1) ? ' '.repeat(each.length) : each))
    .join('\n');
}

/** Finds backslashes at the beginnings of lines, outside of texts and function bodies. */
function metaCommands(sql: string): ScannedSql['foreign'] {
  if (!/^\\/m.test(sql)) return [];
  return withoutLiterals(sql)
    .split('\n')
    .flatMap((text, i) => (META_COMMAND.test(text) ? [{ line: i + 1, what: text.split(/\s/, 1)[0] as string, client: CLIENT }] : []));
}

const LITERAL_START = /\$(?:[A-Za-z_]\w*)?\$|'|\/\*/g;

/** Replaces literals and comments by blanks of the same length. Starts without an end are kept. Reads the text once, whatever it contains. */
function withoutLiterals(sql: string): string {
  const ends = lastEnds(sql);
  let text = '';
  let from = 0;
  LITERAL_START.lastIndex = 0;
  for (let found = LITERAL_START.exec(sql); found !== null; found = LITERAL_START.exec(sql)) {
    const [start] = found;
    const end = start === '/*' ? '*/' : start;
    const at = (ends.get(end) ?? -1) < LITERAL_START.lastIndex ? -1 : sql.indexOf(end, LITERAL_START.lastIndex);
    if (at < 0) {
      // The second dollar may begin another literal.
      if (start.startsWith('$')) LITERAL_START.lastIndex -= 1;
      continue;
    }
    text += sql.slice(from, found.index) + sql.slice(found.index, at + end.length).replace(/[^\n]/g, ' ');
    from = at + end.length;
    LITERAL_START.lastIndex = from;
  }
  return text + sql.slice(from);
}

/** Returns the last place of each text that ends a literal or a comment. */
function lastEnds(sql: string): ReadonlyMap<string, number> {
  const ends = new Map([
    ["'", sql.lastIndexOf("'")],
    ['*/', sql.lastIndexOf('*/')],
  ]);
  for (const { 1: delimiter, index } of sql.matchAll(/(?=(\$(?:[A-Za-z_]\w*)?\$))/g)) ends.set(delimiter as string, index);
  return ends;
}

/** A doubled quote does not end a literal. */
const withoutDoubled = (sql: string): string => sql.replaceAll("''", '\u0000');

function usedEnumValues(statements: readonly ScannedStatement[]): ScannedSql['enumValues'] {
  const added = statements.flatMap(({ text, line, words }, i) => {
    const value = words[0] === 'alter' && words[1] === 'type' ? ADDED_VALUE.exec(text)?.[1] : undefined;
    return value === undefined ? [] : [{ value, line, i }];
  });
  if (added.length === 0) return [];
  /** Index of the last statement with each value. */
  const used = new Map<string, number>(added.map(({ value }) => [withoutDoubled(value), -1]));
  for (const [i, { text }] of statements.entries())
    if (!ADDED_VALUE.test(text)) for (const piece of withoutDoubled(text).split("'")) if (used.has(piece)) used.set(piece, i);
  return added.filter(({ value, i }) => (used.get(withoutDoubled(value)) ?? -1) > i).map(({ line, value }) => ({ line, value }));
}
