/**
 * Finds SQL that Citus would refuse in the text of a statement: lateral joins, joins of tables, correlated subqueries, and subqueries of
 * tables outside conditions; failures that would be raised for any rows; and updates and deletes that Citus would plan together with the
 * subquery of their rows, or that have subqueries in `case` or `coalesce`.
 */

type Token = { readonly kind: 'word' | 'name' | 'sign'; readonly text: string } | { readonly kind: 'block'; readonly block: Block };

/** A statement in parentheses, or the whole one; other parentheses are inline. */
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
  /** Relations of the enclosing `with` lists. */
  readonly relations: ReadonlySet<string>;
  readonly problems: string[];
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

/** Splits `a union all b` into independent parts. */
function parts(tokens: readonly Token[]): readonly (readonly Token[])[] {
  const found: Token[][] = [[]];
  for (const token of tokens) {
    if (textOf(token) === 'union') found.push([]);
    else found.at(-1)?.push(token);
  }
  return found;
}

/** Marks a correlated select in `exists`, which a comparison of columns of two rows requires. */
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
  if (!isAt(tokens, 0, 'with', '":apart"')) seen.problems.push('an update or delete that is not planned separately');
  if (hasLazyBlock(tokens) && !mayFail(tokens)) seen.problems.push('a subquery in case or coalesce in an update or delete');
}

const CHANGES: ReadonlySet<string> = new Set(['update', 'delete']);

/** Patterns, casts of lists and all aggregates but counts may fail for a value. */
const FAILING = /^(?:similar|unnest|avg|max|min|sum|corr|std.*|var_.*|covar_.*|regr_.*)$/;

/**
 * Returns whether a statement has conditions that may fail, which `case` guards together with those beside them. Citus refuses that, as
 * documented in docs/citus.md; `cluster-refusals.test.ts` asserts the refusal.
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

/** Text of a deliberate failure. */
const FAILURE = /^'svc:/;
const AGGREGATES: ReadonlySet<string> = new Set(['count', 'bool_and']);

/** Expressions that depend on no row are evaluated before the statement is sent, even if they are not needed. */
function looksAtRows(tokens: readonly Token[], start: number): boolean {
  for (let i = start, depth = 1; i < tokens.length && depth > 0; i++) {
    const token = tokens[i] as Token;
    if (token.kind === 'name' || (token.kind === 'word' && AGGREGATES.has(token.text))) return true;
    depth += Number(textOf(token) === '(') - Number(textOf(token) === ')');
  }
  return false;
}

function checkSelect(tokens: readonly Token[], seen: Seen, isExists: boolean): void {
  const { relations, problems } = seen;
  const own = new Set<string>();
  const used = new Set<string>();
  const tables: string[] = [];
  let others = 0;
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i] as Token;
    if (textOf(token) === 'lateral') problems.push('a lateral join');
    if (isAt(tokens, i, 'concat', '(', FAILURE) && !looksAtRows(tokens, i + 2)) problems.push('a failure that depends on no row');
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
  if (tables.length > 1) problems.push(`several tables in one select: ${tables.join(', ')}`);
  if (tables.length === 1 && others > 0) problems.push(`the table ${tables[0]} is joined`);
  for (const alias of used) if (!own.has(alias)) problems.push(isExists ? COMPARES_ROWS : `${alias} is used in a correlated subquery`);
}

/** @returns the refusals; `COMPARES_ROWS` for each correlated condition */
export function problemsIn(sql: string): readonly string[] {
  const problems: string[] = [];
  check(parse(sql), { relations: new Set(), problems });
  return problems;
}
