/** Scans SQL of migrations for statements that cannot run in a transaction, transaction control, and commands of psql. */
import type { ScannedSql, ScannedStatement } from '../../backend/migration-dialect.ts';
import { endOfBlank, placedStatements, withoutComments } from '../../model/split-statements.ts';

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
const OPENS = /^(?:begin|start transaction)\b/;
const CLOSES = /^(?:commit|end)\b/;
const CLIENT = 'psql';
const META_COMMAND = /^\\[a-zA-Z!?.]/;
const FROM_STDIN = /\bfrom\s+stdin\b/i;
const ADDED_VALUE = /\badd\s+value\s+(?:if\s+not\s+exists\s+)?'((?:[^']|'')*)'/i;

/**
 * Scans the SQL of a migration or seed.
 * @param controls beginnings of statements that begin or end transactions
 * @param bare text of the same length without syntax that PostgreSQL would read in another way than the database
 */
export function scan(text: string, controls: RegExp, bare: string = text): ScannedSql {
  const commands = metaCommands(bare);
  // Commands end with their line, not with a semicolon.
  const sql =
    commands.length === 0
      ? bare
      : bare
          .split('\n')
          .map((each, i) => (commands.some(({ line }) => line === i + 1) ? ' '.repeat(each.length) : each))
          .join('\n');
  const statements: ScannedStatement[] = [];
  const lineAt = lineCounter(sql);
  for (const { text: statement, at } of placedStatements(sql)) {
    const head = headOf(statement);
    const shown = bare === text ? statement : text.slice(at, at + statement.length);
    statements.push({ text: shown, at, line: lineAt(at + head.skipped), words: head.words });
  }
  const beginning = ({ words }: ScannedStatement): string => words.join(' ');
  const outside = statements.filter((each) => {
    return OUTSIDE.some((pattern) => pattern.test(beginning(each))) || (each.words[0] === 'alter' && DETACH.test(each.text));
  });
  const control = statements.filter((each) => controls.test(beginning(each)));
  const foreign = [
    ...commands,
    ...statements
      .filter((each) => each.words[0] === 'copy' && FROM_STDIN.test(each.text))
      .map(({ line }) => ({ line, what: 'copy from stdin', client: CLIENT })),
  ];
  return {
    statements,
    outside,
    control,
    foreign,
    enumValues: usedEnumValues(statements),
    unwrapped: isAround(statements, control) ? without(text, control) : undefined,
    joined: isJoinable(statements, control) ? without(text, control) : undefined,
  };
}

/** Returns a function that converts increasing offsets to lines in one pass: dumps have very many statements. */
function lineCounter(text: string): (offset: number) => number {
  let line = 1;
  let next = text.indexOf('\n');
  return (offset) => {
    for (; next >= 0 && next < offset; next = text.indexOf('\n', next + 1)) line += 1;
    return line;
  };
}

/** Returns the first words after comments. */
function headOf(text: string): { readonly skipped: number; readonly words: readonly string[] } {
  const skipped = endOfBlank(text, 0);
  const rest = withoutComments(text.slice(skipped, skipped + 400));
  return { skipped, words: (rest.match(/[^\s]+/g) ?? []).slice(0, 6).map((word) => word.toLowerCase()) };
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
function isPlain({ words }: ScannedStatement, pattern: RegExp): boolean {
  return pattern.test(words.join(' ')) && words.length <= 2;
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
