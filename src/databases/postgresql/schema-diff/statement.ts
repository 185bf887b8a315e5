/** Statements of a migration before they are put in order. */

/** Steps of a migration in their order: obstacles are dropped first, users of other objects are created last. */
const PHASES = [
  'create schemas',
  'create extensions',
  'release sequences',
  'drop foreign keys',
  'drop indexes',
  'drop constraints',
  'drop defaults',
  'drop generated columns',
  'drop sequences',
  'drop tables',
  'drop columns',
  'create types',
  'add values',
  'change types',
  'drop types',
  'create sequences',
  'change sequences',
  'create tables',
  'change persistence',
  'add columns',
  'add generated columns',
  'set defaults',
  'set nullability',
  'set identity',
  'add constraints',
  'create indexes',
  'add foreign keys',
  'assign sequences',
  'drop extensions',
  'drop schemas',
] as const;

export type Phase = (typeof PHASES)[number];

export interface DiffStatement {
  readonly phase: Phase;
  /** Empty if there is no statement that does it. */
  readonly sql: string;
  /** Keys of the objects that have to be in the expected state; see `key`. */
  readonly touches: readonly string[];
  /** Comment on a statement that is run. */
  readonly note?: string | undefined;
  /** Reason not to run it. The objects in `blocks` are then not in the state that other statements expect. */
  readonly refused?: string | undefined;
  readonly blocks?: readonly string[];
  /** Values that were added to this enum may be used, which PostgreSQL allows after the transaction that added them only. */
  readonly usesEnum?: string | null;
}

type ObjectKind = 'schema' | 'type' | 'sequence' | 'table' | 'persistence' | 'primary key' | 'column' | 'constraint' | 'index';

/** @param parts names in SQL; for a column, those of its table and of itself */
export function key(kind: ObjectKind, ...parts: readonly string[]): string {
  return [kind, ...parts].join('\t');
}

/** Keys of a table and of some of its columns. */
export function tableKeys(table: string, columns: readonly string[] = []): readonly string[] {
  return [key('table', table), ...columns.map((column) => key('column', table, column))];
}

/** The beginning of the comment on a statement that is not run. The statement follows in comment marks. */
const NOT_DONE = 'Not done: ';

export interface Script {
  readonly statements: readonly DiffStatement[];
  /** Keys of objects that are not in their new state. */
  readonly blocked: ReadonlySet<string>;
}

/**
 * Puts statements in order, and refuses those that expect what a refused one would do.
 * @param blocked keys of objects that the opposite migration leaves in another state
 */
export function scriptOf(statements: readonly DiffStatement[], blocked: ReadonlySet<string> = new Set()): Script {
  const all = new Set(blocked);
  const sorted = statements
    .map((statement, position) => ({ statement, position, phase: PHASES.indexOf(statement.phase) }))
    .sort((a, b) => a.phase - b.phase || a.position - b.position)
    .map(({ statement }) => statement);
  const refuse = (list: readonly DiffStatement[]): readonly DiffStatement[] =>
    list.map((each) => {
      const cause = each.refused === undefined ? each.touches.find((touched) => all.has(touched)) : undefined;
      const result = cause === undefined ? each : { ...each, refused: causeText(cause, blocked.has(cause)) };
      if (result.refused !== undefined) for (const name of result.blocks ?? []) all.add(name);
      return result;
    });
  let list: readonly DiffStatement[] = sorted;
  for (let size = -1; size !== all.size; ) {
    size = all.size;
    list = refuse(list);
  }
  return { statements: refuse(list), blocked: all };
}

function causeText(cause: string, isOpposite: boolean): string {
  const [kind, first = '', second] = cause.split('\t');
  const shown =
    second !== undefined ? `${kind} ${second} of ${first}` : kind === 'primary key' ? `primary key of ${first}` : `${kind} ${first}`;
  return isOpposite ? `up.sql leaves out a change of the ${shown}` : `this needs a change of the ${shown} that is not done`;
}

/** Prints a statement with its comments. */
export function printed({ sql, note, refused }: DiffStatement): string {
  if (refused === undefined) return `${note === undefined ? '' : comment(`${note}.`)}${sql};\n`;
  const how = sql === '' ? '' : ' To do it, remove the comment marks:';
  return `${comment(`${NOT_DONE}${refused}.${how}`)}${sql === '' ? '' : comment(`${sql};`)}`;
}

/** Prints a text in comment marks. Quoted names may contain line breaks, which would end a comment. */
export function comment(text: string): string {
  return text
    .split(/\r\n?|\n/)
    .map((line) => `-- ${line}\n`)
    .join('');
}
