/**
 * What Citus would refuse in a statement, found in its text: lateral joins, tables that meet in one select, sub-selects that look out,
 * and sub-selects of tables outside of conditions; failures that it would raise whatever the rows are; and updates and deletes that it would
 * plan together with what reads their rows, or that have sub-selects inside of `case` or `coalesce`.
 */

type Token = { readonly kind: 'word' | 'name' | 'sign'; readonly text: string } | { readonly kind: 'block'; readonly block: Block };

/** A statement in parentheses, or the whole; what is in other parentheses is in line. */
interface Block {
  readonly tokens: Token[];
}

const TOKENS = /'(?:[^']|'')*'|("(?:[^"]|"")*")|([A-Za-z_]\w*)|\$\d+|\d+(?:\.\d+)?|::|<=|>=|<>|=>|\|\||[^\s]/g;
const STATEMENTS: ReadonlySet<string> = new Set(['select', 'with', 'insert', 'update', 'delete', 'values']);
const ALIAS = /^"t\d+(?:_\d+)?"$/;

function parse(sql: string): Block {
  const found = [...sql.matchAll(TOKENS)].map(([text, name, word]) => ({
    kind: name !== undefined ? ('name' as const) : word !== undefined ? ('word' as const) : ('sign' as const),
    text,
  }));
  const root: Block = { tokens: [] };
  const blocks: Block[] = [root];
  const isBlock: boolean[] = [];
  found.forEach((token, i) => {
    const block = blocks.at(-1) as Block;
    if (token.text === '(' && token.kind === 'sign') {
      const next = found[i + 1];
      const opens = next?.kind === 'word' && STATEMENTS.has(next.text);
      isBlock.push(opens);
      if (opens) {
        const inner: Block = { tokens: [] };
        block.tokens.push({ kind: 'block', block: inner });
        blocks.push(inner);
      } else block.tokens.push(token);
    } else if (token.text === ')' && token.kind === 'sign') {
      if (isBlock.pop() === true) blocks.pop();
      else block.tokens.push(token);
    } else block.tokens.push(token);
  });
  return root;
}

interface Seen {
  /** Names of relations of the `with` lists around. */
  readonly relations: ReadonlySet<string>;
  readonly complaints: string[];
}

function textOf(token: Token | undefined): string {
  return token === undefined || token.kind === 'block' ? '' : token.text;
}

function isAt(tokens: readonly Token[], i: number, ...texts: readonly (string | RegExp)[]): boolean {
  return texts.every((text, k) => {
    const found = textOf(tokens[i + k]);
    return typeof text === 'string' ? found === text : text.test(found);
  });
}

const NAME = /^"/;

/** Splits `a union all b`, whose parts have nothing to do with each other. */
function parts(tokens: readonly Token[]): readonly (readonly Token[])[] {
  const found: Token[][] = [[]];
  for (const token of tokens) {
    if (textOf(token) === 'union') found.push([]);
    else found.at(-1)?.push(token);
  }
  return found;
}

/** Stands for a select in an `exists` that looks at the row around it: what compares columns of two rows has to. */
export const COMPARES_ROWS = 'rows are compared';

function check(block: Block, seen: Seen, isExists = false): void {
  const relations = new Set(seen.relations);
  const { tokens } = block;
  for (let i = 0; i < tokens.length; i++) {
    if (
      isAt(tokens, i, ALIAS, 'as') &&
      (tokens[i + 2]?.kind === 'block' || (isAt(tokens, i + 2, 'materialized') && tokens[i + 3]?.kind === 'block'))
    )
      relations.add(textOf(tokens[i]));
  }
  for (const part of parts(tokens)) checkSelect(part, { ...seen, relations }, isExists);
  const command = tokens.find((token) => STATEMENTS.has(textOf(token)) && textOf(token) !== 'with');
  if (!CHANGES.has(textOf(command))) return;
  if (!isAt(tokens, 0, 'with', '":apart"')) seen.complaints.push('an update or delete that is not planned by itself');
  if (hasLazyBlock(tokens) && !mayFail(tokens)) seen.complaints.push('a sub-select inside of case or coalesce in an update or delete');
}

const CHANGES: ReadonlySet<string> = new Set(['update', 'delete']);

/** Patterns, casts of lists and all aggregates but those that count: they may fail because of a value. */
const FAILING = /^(?:similar|unnest|avg|max|min|sum|corr|std.*|var_.*|covar_.*|regr_.*)$/;

/**
 * Whether a statement has conditions that may fail: `case` guards them and what stands beside them. Citus refuses that, as docs/citus.md
 * says; `cluster-refusals.test.ts` asserts the refusal.
 */
function mayFail(tokens: readonly Token[]): boolean {
  return tokens.some((token) => (token.kind === 'block' ? mayFail(token.block.tokens) : token.kind === 'word' && FAILING.test(token.text)));
}

function hasLazyBlock(tokens: readonly Token[]): boolean {
  let cases = 0;
  /** Open parentheses since `coalesce`. */
  let inside = 0;
  return tokens.some((token, i) => {
    const text = textOf(token);
    if (text === 'case') cases++;
    if (text === 'end') cases--;
    if (text === '(' && (inside > 0 || textOf(tokens[i - 1]) === 'coalesce')) inside++;
    if (text === ')' && inside > 0) inside--;
    return token.kind === 'block' && (cases > 0 || inside > 0);
  });
}

/** The text of a failure that a statement raises on purpose. */
const FAILURE = /^'svc:/;
const AGGREGATES: ReadonlySet<string> = new Set(['count', 'bool_and']);

/** What does not is computed before the statement is sent, whether it is needed or not. */
function looksAtRows(tokens: readonly Token[], start: number): boolean {
  for (let i = start, depth = 1; i < tokens.length && depth > 0; i++) {
    const token = tokens[i] as Token;
    if (token.kind === 'name' || (token.kind === 'word' && AGGREGATES.has(token.text))) return true;
    depth += Number(textOf(token) === '(') - Number(textOf(token) === ')');
  }
  return false;
}

function checkSelect(tokens: readonly Token[], seen: Seen, isExists: boolean): void {
  const { relations, complaints } = seen;
  const own = new Set<string>();
  const used = new Set<string>();
  const tables: string[] = [];
  let others = 0;
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i] as Token;
    if (textOf(token) === 'lateral') complaints.push('a lateral join');
    if (isAt(tokens, i, 'concat', '(', FAILURE) && !looksAtRows(tokens, i + 2)) complaints.push('a failure that looks at no row');
    if (isAt(tokens, i, 'as', ALIAS)) {
      const alias = textOf(tokens[i + 1]);
      const before = tokens[i - 1];
      if (isAt(tokens, i + 2, /^materialized$/)) continue;
      own.add(alias);
      if (before?.kind === 'block') others++;
      else if (isAt(tokens, i - 3, NAME, '.', NAME)) tables.push(`${textOf(tokens[i - 3])}.${textOf(before)}`);
      else if (relations.has(textOf(before))) others++;
    }
    if (isAt(tokens, i, ALIAS, '.')) used.add(textOf(token));
    if (token.kind === 'block') check(token.block, seen, textOf(tokens[i - 1]) === 'exists');
  }
  if (tables.length > 1) complaints.push(`several tables in one select: ${tables.join(', ')}`);
  if (tables.length === 1 && others > 0) complaints.push(`the table ${tables[0]} is joined to something`);
  for (const alias of used) if (!own.has(alias)) complaints.push(isExists ? COMPARES_ROWS : `${alias} is read from outside`);
}

/** @returns what is wrong with it; `COMPARES_ROWS` for each time that a condition looks at the row around it */
export function complaintsAbout(sql: string): readonly string[] {
  const complaints: string[] = [];
  check(parse(sql), { relations: new Set(), complaints });
  return complaints;
}
