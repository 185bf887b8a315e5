/** Chooses the statements of SQL that administrators run which belong in a migration. */
import type { ScannedSql, ScannedStatement } from '../../backend/migration-dialect.ts';
import { withoutComments } from '../../model/split-statements.ts';

const DEFINITIONS: ReadonlySet<string> = new Set(['create', 'alter', 'drop', 'rename', 'comment', 'grant', 'revoke', 'import']);
export const MAY_DEFINE = new RegExp(`\\b(?:${[...DEFINITIONS].join('|')})\\b`, 'i');
/** Objects of the server, and those whose definitions have passwords, which do not belong in files. */
const OF_SERVER: ReadonlySet<string> = new Set(['role', 'user', 'group', 'server', 'subscription', 'database', 'system', 'tablespace']);
/** Objects of a session, which statements of the same text may need. */
const TEMPORARY: ReadonlySet<string> = new Set(['temp', 'temporary']);
const ROWS: ReadonlySet<string> = new Set(['insert', 'update', 'delete', 'merge', 'copy', 'replace', 'truncate']);

const SERVER_LEFT_OUT =
  '-- left out: a statement that may have a password, or is about a role, a user, a server, a subscription or a database\n';
const ROWS_LEFT_OUT = '-- left out: a change of rows, which is not a change of the schema: write it to a seed\n';

export interface RecordedSql {
  readonly text: string;
  /** The first definition, which names the migration. */
  readonly first: ScannedStatement;
}

/**
 * Returns the SQL of a migration; `undefined` if there is nothing to record.
 * @param isTransactional true if a rollback undoes definitions
 */
export function recordedSql(sql: string, { outside, statements, control }: ScannedSql, isTransactional: boolean): RecordedSql | undefined {
  const undone = isTransactional ? undoneStatements(statements, new Set(control), outside.length > 0) : new Set<ScannedStatement>();
  const first = statements.find((each) => !undone.has(each) && isDefinition(each));
  if (first === undefined) return undefined;
  let text = sql;
  let isNeeded = false;
  for (const each of statements.toReversed()) {
    const note = undone.has(each) ? '' : leftOut(each, isNeeded);
    if (note === undefined) {
      isNeeded ||= mayNeedRows(each);
      continue;
    }
    const { at, text: statement } = each;
    text = `${text.slice(0, at)}${note}${text.slice(at + statement.length).replace(/^\s*;/, '')}`;
  }
  return { text: outside.length === 0 ? text : `-- svc: no-transaction\n${text}`, first };
}

/** Returns the comment in place of a statement; `undefined` if it is recorded. @param isNeeded true if a definition behind it may need rows */
function leftOut(statement: ScannedStatement, isNeeded: boolean): string | undefined {
  if (isSecret(statement)) return SERVER_LEFT_OUT;
  return isOfRows(statement) && !isNeeded ? ROWS_LEFT_OUT : undefined;
}

/**
 * Returns the statements of transactions and savepoints that were rolled back.
 * @param control `begin`, `commit` and the like
 * @param isApart true if each statement before a `begin` had its own transaction, instead of that of the `begin`
 */
function undoneStatements(
  statements: readonly ScannedStatement[],
  control: ReadonlySet<ScannedStatement>,
  isApart: boolean,
): ReadonlySet<ScannedStatement> {
  const undone = new Set<ScannedStatement>();
  let open: ScannedStatement[] = [];
  for (const each of statements) {
    open.push(each);
    const [first = '', ...others] = each.words;
    if (first === 'rollback' && others.includes('to')) {
      const name = others.at(-1);
      const from = open.findLastIndex(({ words }) => words[0] === 'savepoint' && words[1] === name);
      if (from >= 0) for (const of of open.splice(from + 1)) undone.add(of);
    } else if (first === 'begin' || first === 'start') {
      if (isApart) open = [each];
    } else if (control.has(each)) {
      const isUndone = (first === 'rollback' || first === 'abort') && others[0] !== 'prepared';
      if (isUndone) for (const of of open) undone.add(of);
      open = [];
    }
  }
  return undone;
}

function isDefinition(statement: ScannedStatement): boolean {
  const { words } = statement;
  const isTemporary = TEMPORARY.has(subjectOf(words)) || words.some((word) => /^"?pg_temp"?(?:\.|$)/.test(word));
  return DEFINITIONS.has(words[0] ?? '') && !isTemporary && !isSecret(statement);
}

/** Returns what a statement such as `create or replace view` or `comment on view` is about: `view`. */
function subjectOf([, ...rest]: readonly string[]): string {
  return rest.find((word) => !/^(?:or|replace|local|global|on)$/.test(word)) ?? '';
}

function isOfRows({ words: [first = ''], text }: ScannedStatement): boolean {
  return ROWS.has(first) || (first === 'with' && /\b(?:insert|update|delete|merge)\b/i.test(plain(text)));
}

/** Returns whether a statement may fail, or may lose rows, if the rows are not changed before. */
function mayNeedRows({ words }: ScannedStatement): boolean {
  const [first = '', second = ''] = words;
  return first === 'alter' || first === 'drop' || first === 'rename' || (first === 'create' && second === 'unique');
}

/** Statements that may have passwords, or are about objects of the server. */
function isSecret({ words, text }: ScannedStatement): boolean {
  const first = words[0] ?? '';
  if (DEFINITIONS.has(first) && OF_SERVER.has(subjectOf(words))) return true;
  if ((first === 'grant' || first === 'revoke') && isOfServer(plain(text))) return true;
  if (first === 'do' && hasSecretWord(text)) return true;
  return mayHaveSecret(text);
}

/** Returns whether a grant is a membership of roles, which has no `on`, or is about an object of the server. */
function isOfServer(grant: string): boolean {
  return !/\bon\b/i.test(grant) || /\bon\s+(?:database|tablespace|parameter)\b/i.test(grant);
}

/** Returns a statement without comments, with a plain name in place of literals and quoted names. */
function plain(text: string): string {
  return withoutComments(text, () => 'x');
}

const SECRET_NAME = String.raw`[\w.]{0,60}(?:password|passwd|secret|token|api_?key|private_?key|credential)\w{0,60}`;
const PASSWORD = /\bpassword\b/i;
const CONNECTION = /\b(?:host|hostaddr|dbname)\s*=/i;
const CONNECTION_PASSWORD = /\bpassword\s*=/i;

/** Clauses that set a password or another secret, in a statement itself or in code such as the body of a function. */
const SECRETS: readonly RegExp[] = [
  /\bidentified (?:by|via|with)\b/i,
  /\bpassword\s+'/i,
  // A password in an address.
  /\b[a-z][a-z0-9+.-]{0,30}:\/\/[^/\s:@'"]{0,100}:[^/@\s'"]{1,200}@/i,
  new RegExp(String.raw`\bset_config\s*\(\s*E?'+${SECRET_NAME}'`, 'i'),
  new RegExp(String.raw`\bset\s+(?:local\s+|session\s+)?"?${SECRET_NAME}"?\s*(?:=|\bto\b)\s*'`, 'i'),
];
/** Expressions of which the second follows the first anywhere. */
const FOLLOWED: readonly (readonly [RegExp, RegExp])[] = [
  [/\b(?:create|alter) (?:role|user|group|server|subscription)\b/i, PASSWORD],
  // SQL that code puts together.
  [/\bexecute\b/i, PASSWORD],
  // Connection strings.
  [CONNECTION, CONNECTION_PASSWORD],
  [CONNECTION_PASSWORD, CONNECTION],
];

/** Returns whether SQL has a word that may stand before a password. */
export function hasSecretWord(sql: string): boolean {
  return /\bpassword\b|\bidentified\b/i.test(sql);
}

/** Returns whether SQL may set a password or another secret. */
export function mayHaveSecret(sql: string): boolean {
  const follows = (text: string, first: RegExp, second: RegExp): boolean => {
    const at = text.search(first);
    return at >= 0 && second.test(text.slice(at));
  };
  // Comments are recorded, too, and may stand between the words of a clause.
  return [sql, withoutComments(sql).replace(/\s+/g, ' ')].some(
    (text) => SECRETS.some((pattern) => pattern.test(text)) || FOLLOWED.some(([first, second]) => follows(text, first, second)),
  );
}
