/** Scans SQL of migrations for statements that PostgreSQL refuses in a transaction, commands of psql, and new enum values. */
import type { ScannedSql, ScannedStatement } from '../../../backend/migration-dialect.ts';
import { commandLines, TRANSACTION_CONTROL, withoutComments } from '../../../model/split-statements.ts';
import { beginningOf, lineCounter, scanStatements } from '../../shared/scan-statements.ts';

/** Beginnings of statements that PostgreSQL refuses in a transaction. */
const OUTSIDE: readonly RegExp[] = [
  /^create (?:unique )?index concurrently\b/,
  /^drop index concurrently\b/,
  /^reindex ?(?:\(.*\) )?(?:(?:index|table|schema|database|system) )?concurrently\b/,
  /^reindex ?\([^)]*\bconcurrently\b(?! (?:false|off|0)\b)/,
  /^reindex ?(?:\(.*\) )?(?:schema|database|system)\b/,
  /^vacuum\b/,
  /^alter system\b/,
  /^(?:create|drop) database\b/,
  /^(?:create|drop) tablespace\b/,
  /^alter database (?:"[^"]*"|\S+) set tablespace\b/,
  /^(?:create|drop) subscription\b/,
  /^discard all\b/,
  /^cluster ?(?:verbose|\([^)]*\))?$/,
];
const DETACH = /\bdetach partition \S+ concurrently\b/i;
const CLIENT = 'psql';
const META_COMMAND = /\\[a-zA-Z!?.]\S*/y;
const FROM_STDIN = /\bfrom\s+stdin\b/i;
const ADDED_VALUE = /\badd\s+value\s+(?:if\s+not\s+exists\s+)?'((?:[^']|'')*)'/i;

/** Scans the SQL of a migration or seed. */
export function scanSql(text: string): ScannedSql {
  const commands = metaCommands(text);
  const scanned = scanStatements(text, TRANSACTION_CONTROL, withoutLines(text, commands));
  const { statements } = scanned;
  return {
    ...scanned,
    outside: statements.filter((each) => OUTSIDE.some((pattern) => pattern.test(beginningOf(each))) || isDetaching(each)),
    foreign: [
      ...commands,
      ...statements
        .filter((each) => each.words[0] === 'copy' && FROM_STDIN.test(plain(each.text)))
        .map(({ line }) => ({ line, what: 'copy from stdin', client: CLIENT })),
    ],
    enumValues: usedEnumValues(statements),
  };
}

/** Returns a statement without comments, with a plain name in place of literals and quoted names. */
function plain(text: string): string {
  return withoutComments(text, () => 'x');
}

function isDetaching({ text, words }: ScannedStatement): boolean {
  return words[0] === 'alter' && /\bdetach\b/i.test(text) && DETACH.test(plain(text));
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

/** Finds commands of psql, which end with their line. */
function metaCommands(sql: string): ScannedSql['foreign'] {
  const lineAt = lineCounter(sql);
  return commandLines(sql, META_COMMAND).map(({ at, word }) => ({ line: lineAt(at), what: word, client: CLIENT }));
}

/** Masks doubled quotes, which do not end a literal. */
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
