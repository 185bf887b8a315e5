/** Names and descriptions of comparison operators, whose SQL each kind supplies. */
import type { Comparison, ComparisonField, ScalarType } from '../../backend/type-system.ts';
import type { CatalogType } from '../../catalog/catalog.ts';
import { EMPTY, type Sql, sql } from '../../sql/fragment.ts';

/** Compiled right side of a comparison. */
export interface CompiledArgument {
  /** Returns the value; a list in the form in which the kind sends it. */
  value(): Sql;
  /** Returns a list as a select with one column, for kinds without another operand of `in`. */
  list(): Sql;
  /** Returns a field of an input object. @param type overrides the type that it is cast to */
  field(name: string, type?: CatalogType): Sql;
  /** Returns whether the input object has a field. */
  has(name: string): boolean;
}

export interface ComparisonOperator extends Comparison {
  /** The operator may fail for some rows. */
  readonly mayFail?: boolean;
  /** Language of the pattern in the operand: an invalid pattern is refused before any row is read. */
  readonly pattern?: 'like' | 'regex' | 'iregex';
  compile(column: Sql, argument: CompiledArgument): Sql;
}

/** A scalar with operators that compile. */
export interface ComparedScalar extends ScalarType {
  readonly comparisons: readonly ComparisonOperator[];
}

type Compile = (column: Sql, value: Sql) => Sql;

/** An operator with one value on its right side, by default of the column's type. */
export function operator(
  name: string,
  description: string | null,
  compile: Compile,
  argument: Comparison['argument'] = { kind: 'same' },
): ComparisonOperator {
  return { name, description, argument, compile: (column, { value }) => compile(column, value()) };
}

/** `(column symbol value)` */
export function infix(symbol: Sql): Compile {
  return (column, value) => sql`(${column} ${symbol} ${value})`;
}

/** `name(column, value)` */
export function call(name: Sql): Compile {
  return (column, value) => sql`${name}(${column}, ${value})`;
}

const SYMBOLS: readonly (readonly [name: string, symbol: Sql])[] = [
  ['_eq', sql`=`],
  ['_neq', sql`<>`],
  ['_gt', sql`>`],
  ['_lt', sql`<`],
  ['_gte', sql`>=`],
  ['_lte', sql`<=`],
];

/** Operators of every type, in the order of the schema; `_is_null` is a node of its own. */
export function commonComparisons(
  isIn: ComparisonOperator['compile'],
  isNotIn: ComparisonOperator['compile'],
): readonly ComparisonOperator[] {
  const argument = { kind: 'list' } as const;
  return [
    ...SYMBOLS.map(([name, symbol]) => operator(name, null, infix(symbol))),
    { name: '_in', description: null, argument, compile: isIn },
    { name: '_nin', description: null, argument, compile: isNotIn },
  ];
}

/** Compiles a test of texts. @param not `not ` for the negation, otherwise empty */
export type TextTest = (column: Sql, value: Sql, not: Sql) => Sql;

const NOT = sql`not `;

/** An operator of texts and its negation. @param rest end of the description */
function pair(name: string, rest: string, test: TextTest, more: Partial<ComparisonOperator>): readonly ComparisonOperator[] {
  return [
    { ...operator(`_${name}`, `does the column match the given ${rest}`, (column, value) => test(column, value, EMPTY)), ...more },
    { ...operator(`_n${name}`, `does the column NOT match the given ${rest}`, (column, value) => test(column, value, NOT)), ...more },
  ];
}

/** `_like` and `_nlike` */
export const LIKE: readonly ComparisonOperator[] = pair('like', 'pattern', (column, value, not) => sql`(${column} ${not}like ${value})`, {
  pattern: 'like',
});

/** `_ilike` and `_nilike` */
export function ilike(test: TextTest): readonly ComparisonOperator[] {
  return pair('ilike', 'case-insensitive pattern', test, { pattern: 'like' });
}

/** Operators of texts. @param test compiles `_ilike` @param more operators after `_ilike` */
export function textComparisons(test: TextTest, more: readonly ComparisonOperator[] = []): readonly ComparisonOperator[] {
  return [...LIKE, ...ilike(test), ...more];
}

/**
 * A regular expression costs more than 1/32 of the default limit. PostgreSQL keeps 32 compiled expressions for each session, and
 * compiles others again for every row. MariaDB compiles each again for every row unless it is a constant.
 */
const REGEX_COST = 160;

/** Operators of a language of regular expressions. @param name `regex`, `similar` */
export function regularExpressions(
  name: string,
  language: string,
  test: TextTest,
  more: Partial<ComparisonOperator>,
): readonly ComparisonOperator[] {
  return pair(name, language, test, { cost: REGEX_COST, ...more });
}

/** `_has_key`, `_has_keys_any` and `_has_keys_all`. */
export function keyComparisons(
  type: CatalogType,
  one: Compile,
  any: ComparisonOperator['compile'],
  all: Compile,
): readonly ComparisonOperator[] {
  const list = { kind: 'type', type, list: true } as const;
  return [
    operator('_has_key', 'does the string exist as a top-level key in the column', one, { ...list, list: false }),
    { name: '_has_keys_any', description: 'do any of these strings exist as top-level keys in the column', argument: list, compile: any },
    operator('_has_keys_all', 'do all of these strings exist as top-level keys in the column', all, list),
  ];
}

const SPATIAL: Readonly<Record<string, readonly [call: Sql, description: string]>> = {
  _st_contains: [sql`st_contains`, 'does the column contain the given @ value'],
  _st_crosses: [sql`st_crosses`, 'does the column cross the given @ value'],
  _st_equals: [sql`st_equals`, 'is the column equal to given @ value (directionality is ignored)'],
  _st_intersects: [sql`st_intersects`, 'does the column spatially intersect the given @ value'],
  _st_3d_intersects: [sql`st_3dintersects`, 'does the column spatially intersect the given @ value in 3D'],
  _st_overlaps: [sql`st_overlaps`, "does the column 'spatially overlap' (intersect but not completely contain) the given @ value"],
  _st_touches: [sql`st_touches`, 'does the column have at least one point in common with the given @ value'],
  _st_within: [sql`st_within`, 'is the column contained in the given @ value'],
};

/** Spatial operators. @param type in the descriptions: `geometry` or `geography` */
export function spatialComparisons(
  type: string,
  names: readonly (keyof typeof SPATIAL)[] = Object.keys(SPATIAL),
): readonly ComparisonOperator[] {
  return names.flatMap((name) => {
    const [functionName, description] = SPATIAL[name] ?? [];
    return functionName === undefined || description === undefined
      ? []
      : [operator(name, description.replace('@', type), call(functionName))];
  });
}

/** An operator that takes an input object with a distance and a value. @param type in the description: `geometry` or `geography` */
export function withinDistance(
  name: string,
  type: string,
  input: { readonly name: string; readonly distance: CatalogType; readonly from: CatalogType; readonly more?: readonly ComparisonField[] },
  compile: ComparisonOperator['compile'],
): ComparisonOperator {
  const fields = [
    { name: 'distance', type: input.distance, required: true },
    { name: 'from', type: input.from, required: true },
    ...(input.more ?? []),
  ];
  const dimensions = name.includes('3d') ? ' 3D' : '';
  const description = `is the column within a given${dimensions} distance from the given ${type} value`;
  return { name, description, argument: { kind: 'input', name: input.name, description: null, fields }, compile };
}
