/** Looks at SQL before it is run: what cannot be in a transaction, transactions of its own, what only psql understands. */
import { endOfBlank, placedStatements, withoutComments } from '../../metadata-api/run-sql/split-statements.ts';

export interface ScannedStatement {
  readonly text: string;
  /** Where its text begins. */
  readonly at: number;
  /** Of its first character, from 1. */
  readonly line: number;
  /** Its first words in lower case, comments left out. */
  readonly words: readonly string[];
}

export interface ScannedSql {
  readonly statements: readonly ScannedStatement[];
  /** What cannot run inside a transaction. */
  readonly outside: readonly ScannedStatement[];
  /** `begin`, `commit` and the like. */
  readonly control: readonly ScannedStatement[];
  /** What only psql understands. */
  readonly foreign: readonly { readonly line: number; readonly what: string }[];
  /** Values that are added to an enum and used later in the same text. */
  readonly enumValues: readonly { readonly line: number; readonly value: string }[];
  /** The text without the one `begin` and `commit` around it; undefined: they are not around all of it. */
  readonly unwrapped: string | undefined;
  /** The text without any `begin` and `commit`, for one transaction in their place; undefined: something may be rolled back. */
  readonly joined: string | undefined;
}

/** The beginnings of statements that PostgreSQL refuses in a transaction. */
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
const CONTROL = /^(?:begin|start transaction|commit|end|rollback|abort|prepare transaction)\b/;
const DBB_CONTROL = /^(?:begin|start transaction|commit|rollback)\b/;
const DBB_ROUTINE = /^create (?:or replace )?(?:definer ?= ?\S+ )?(?:aggregate )?(?:procedure|function|trigger|event|package)\b/;
const OPENS = /^(?:begin|start transaction)\b/;
const CLOSES = /^(?:commit|end)\b/;
const META_COMMAND = /^\\[a-zA-Z!?.]/;
const FROM_STDIN = /\bfrom\s+stdin\b/i;
const ADDED_VALUE = /\badd\s+value\s+(?:if\s+not\s+exists\s+)?'((?:[^']|'')*)'/i;

/** As PostgreSQL reads it. */
export function scanSql(given: string): ScannedSql {
  return scan(given, given, CONTROL);
}

/** As MariaDB reads it: names in backticks, backslashes in texts, and other comments; `end` ends blocks there, and no transaction. */
export function scanDbbSql(given: string): ScannedSql {
  const scanned = scan(given, bareDbbSql(given), DBB_CONTROL);
  // A routine may have a `commit` of its own, which no one else may take out.
  const hasRoutine = scanned.control.length > 0 && scanned.statements.some(({ words }) => DBB_ROUTINE.test(words.join(' ')));
  return hasRoutine ? { ...scanned, unwrapped: undefined, joined: undefined } : scanned;
}

/** @param bare the text, as long, without anything that PostgreSQL reads otherwise than its database */
function scan(given: string, bare: string, controls: RegExp): ScannedSql {
  const commands = metaCommands(bare);
  // They end with their line, and not at a semicolon.
  const sql =
    commands.length === 0
      ? bare
      : bare
          .split('\n')
          .map((text, i) => (commands.some(({ line }) => line === i + 1) ? ' '.repeat(text.length) : text))
          .join('\n');
  const statements: ScannedStatement[] = [];
  const lineAt = lineCounter(sql);
  for (const { text, at } of placedStatements(sql)) {
    const head = headOf(text);
    const shown = bare === given ? text : given.slice(at, at + text.length);
    statements.push({ text: shown, at, line: lineAt(at + head.skipped), words: head.words });
  }
  const beginning = ({ words }: ScannedStatement): string => words.join(' ');
  const outside = statements.filter((each) => {
    if (beginning(each).startsWith('rollback to')) return false;
    return OUTSIDE.some((pattern) => pattern.test(beginning(each))) || (each.words[0] === 'alter' && DETACH.test(each.text));
  });
  const control = statements.filter((each) => controls.test(beginning(each)) && !/^rollback to\b/.test(beginning(each)));
  const foreign = [
    ...commands,
    ...statements
      .filter(({ words, text }) => words[0] === 'copy' && FROM_STDIN.test(text))
      .map(({ line }) => ({ line, what: 'copy from stdin' })),
  ];
  return {
    statements,
    outside,
    control,
    foreign,
    enumValues: usedEnumValues(statements),
    unwrapped: isAround(statements, control) ? without(given, control) : undefined,
    joined: isJoinable(statements, control) ? without(given, control) : undefined,
  };
}

/** Tells the lines of offsets that only grow: dumps have very many statements. */
function lineCounter(text: string): (offset: number) => number {
  let line = 1;
  let next = text.indexOf('\n');
  return (offset) => {
    for (; next >= 0 && next < offset; next = text.indexOf('\n', next + 1)) line += 1;
    return line;
  };
}

/** The first words behind comments. */
function headOf(text: string): { readonly skipped: number; readonly words: readonly string[] } {
  const skipped = endOfBlank(text, 0);
  const rest = withoutComments(text.slice(skipped, skipped + 400));
  return { skipped, words: (rest.match(/[^\s]+/g) ?? []).slice(0, 6).map((word) => word.toLowerCase()) };
}

/** Backslashes at the beginnings of lines, outside of texts and bodies of functions. */
function metaCommands(sql: string): readonly { readonly line: number; readonly what: string }[] {
  if (!/^\\/m.test(sql)) return [];
  const bare = sql.replace(/\$([A-Za-z_]\w*)?\$[\s\S]*?\$\1\$|'(?:[^']|'')*'|\/\*[\s\S]*?\*\//g, (text) => text.replace(/[^\n]/g, ' '));
  return bare.split('\n').flatMap((text, i) => (META_COMMAND.test(text) ? [{ line: i + 1, what: text.split(/\s/, 1)[0] as string }] : []));
}

function usedEnumValues(statements: readonly ScannedStatement[]): ScannedSql['enumValues'] {
  return statements.flatMap(({ text, line, words }, i) => {
    if (words[0] !== 'alter' || words[1] !== 'type') return [];
    const value = ADDED_VALUE.exec(text)?.[1];
    if (value === undefined) return [];
    const isUsed = statements.slice(i + 1).some((later) => later.text.includes(`'${value}'`) && !ADDED_VALUE.test(later.text));
    return isUsed ? [{ line, value }] : [];
  });
}

/** Whether the one `begin` and the one `commit` are around all of it. */
function isAround(statements: readonly ScannedStatement[], control: readonly ScannedStatement[]): boolean {
  const [first, last] = [statements[0], statements.at(-1)];
  if (control.length !== 2 || first === undefined || last === undefined) return false;
  return control[0] === first && control[1] === last && isPlain(first, OPENS) && isPlain(last, CLOSES);
}

/** Whether it means the same in one transaction: settings of one alone would go on behind its end. */
function isJoinable(statements: readonly ScannedStatement[], control: readonly ScannedStatement[]): boolean {
  if (control.length > 0 && statements.some(({ words: [first, second] }) => first === 'set' && second === 'local')) return false;
  return control.every((each) => isPlain(each, OPENS) || isPlain(each, CLOSES));
}

/** Without options: those say something that is not to be lost. */
function isPlain({ words }: ScannedStatement, pattern: RegExp): boolean {
  return pattern.test(words.join(' ')) && words.length <= 2;
}

/** The text with blanks in place of statements, so that lines stay what they are. */
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

/** What begins a text, a name in quotes or a comment of MariaDB; a dollar begins nothing there. */
const DBB_OPENERS = /['"`#$]|--|\/\*/g;
const DBB_CLOSERS = { "'": /['\\]/g, '"': /["\\]/g, '`': /`/g } as const;

/** As long a text for MariaDB, with blanks in place of its comments, and letters in place of what could end a text or a name in quotes. */
function bareDbbSql(sql: string): string {
  const pieces: string[] = [];
  let at = 0;
  for (;;) {
    DBB_OPENERS.lastIndex = at;
    const found = DBB_OPENERS.exec(sql);
    if (found === null) return pieces.join('') + sql.slice(at);
    const { 0: opener, index } = found;
    const end = endOfDbbPiece(sql, index, opener);
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

/** Behind it; that of the whole text where it does not end. */
function endOfDbbPiece(sql: string, index: number, opener: string): number {
  const until = (end: number, length: number): number => (end < 0 ? sql.length : end + length);
  if (opener === '$') return index + 1;
  if (opener === '#') return until(sql.indexOf('\n', index), 0);
  // Two signs without a blank behind them are none of a comment.
  if (opener === '--') return /\s|^$/.test(sql.charAt(index + 2)) ? until(sql.indexOf('\n', index), 0) : index + 2;
  if (opener === '/*') return until(sql.indexOf('*/', index + 2), 2);
  const closer = DBB_CLOSERS[opener as keyof typeof DBB_CLOSERS];
  for (let at = index + 1; ; ) {
    closer.lastIndex = at;
    const found = closer.exec(sql);
    if (found === null) return sql.length;
    if (found[0] === opener && sql[found.index + 1] !== opener) return found.index + 1;
    at = found.index + 2;
  }
}

/** The text with a semicolon at its end and nothing behind it: MariaDB takes no empty statements. '' where it says nothing. */
export function terminated(sql: string): string {
  const bare = bareDbbSql(sql).trimEnd();
  if (bare === '') return '';
  const text = sql.slice(0, bare.length);
  return bare.endsWith(';') ? `${text}\n` : `${text}\n;\n`;
}

/** Words that statements of MariaDB begin with which may have done a part of what they say when they are refused, or hold others. */
const IN_PARTS =
  /^(?:drop|create\s+or\s+replace|rename|call|execute|prepare|do|load|set|use|lock|flush|begin|start|commit|rollback|xa|if|for|while|repeat|loop|case|delimiter)\b/i;
/** What holds statements in itself. */
const COMPOUND = /^create\s+(?:definer\s*=\s*\S+\s+)?(?:aggregate\s+)?(?:procedure|function|trigger|event|package)\b/i;
/** Texts and names in quotes, comments, and semicolons; not a comment that is run. */
const PIECES = /'(?:[^'\\]|\\[\s\S]|'')*'|"(?:[^"\\]|\\[\s\S]|"")*"|`(?:[^`]|``)*`|--(?=\s)[^\n]*|#[^\n]*|\/\*(?![!M])[\s\S]*?\*\/|\/\*|;/g;

/**
 * Where the first statement of a text for MariaDB ends, behind its semicolon; undefined: that is not clear, or it may do a part of what
 * it says.
 */
export function endOfFirst(sql: string): number | undefined {
  const bare = sql.replace(/^(?:\s+|--(?=\s)[^\n]*|#[^\n]*|\/\*(?![!M])[\s\S]*?\*\/)*/, '');
  if (IN_PARTS.test(bare) || COMPOUND.test(bare)) return undefined;
  for (const { 0: piece, index } of sql.matchAll(PIECES)) {
    if (piece === '/*') return undefined;
    if (piece === ';') return index + 1;
  }
  return undefined;
}
