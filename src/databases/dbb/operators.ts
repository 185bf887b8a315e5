/** The comparison operators of MariaDB. A new operator is one entry here. */
import type { Comparison } from '../../backend/type-system.ts';
import { COMPARISON_SYMBOLS } from '../../sql/condition.ts';
import { type Sql, sql } from '../../sql/fragment.ts';
import { TEXT } from './type-of.ts';

/** The compiled right side of a comparison. */
export interface CompiledArgument {
  /** The value; of a list a JSON array of texts. */
  readonly value: Sql;
  /** The values of a list as a select with one column. */
  readonly list: Sql;
}

export interface DbbComparison extends Comparison {
  /** The database refuses some texts when it meets a row. */
  readonly mayFail?: true;
  compile(column: Sql, argument: CompiledArgument): Sql;
}

const SAME = { kind: 'same' } as const;

function operator(name: string, symbol: Sql): DbbComparison {
  return { name, description: null, argument: SAME, compile: (column, { value }) => sql`(${column} ${symbol} ${value})` };
}

/** Operators of every type, in the order of the schema; `_is_null` is a node of its own. */
export const COMMON_COMPARISONS: readonly DbbComparison[] = [
  ...COMPARISON_SYMBOLS.map(([name, symbol]) => operator(name, symbol)),
  { name: '_in', description: null, argument: { kind: 'list' }, compile: (column, { list }) => sql`(${column} in (${list}))` },
  {
    name: '_nin',
    description: null,
    argument: { kind: 'list' },
    // Nothing is in a list that is null, and nothing outside of it.
    compile: (column, { list, value }) => sql`(${column} not in (${list}) and ${value} is not null)`,
  },
];

function text(name: string, description: string, compile: (column: Sql, value: Sql) => Sql): DbbComparison {
  return { name, description, argument: SAME, compile: (column, { value }) => compile(column, value) };
}

/** Compiled again for each row where it is no constant; see `REGEX_COST` of other kinds: here it costs what a list does. */
function regex(name: string, description: string, compile: (column: Sql, value: Sql) => Sql): DbbComparison {
  return { ...text(name, description, compile), mayFail: true, cost: 160 };
}

const insensitive = (column: Sql): Sql => sql`convert(${column} using utf8mb4) collate utf8mb4_general_ci`;

export const TEXT_COMPARISONS: readonly DbbComparison[] = [
  text('_like', 'does the column match the given pattern', (column, value) => sql`(${column} like ${value})`),
  text('_nlike', 'does the column NOT match the given pattern', (column, value) => sql`(${column} not like ${value})`),
  text(
    '_ilike',
    'does the column match the given case-insensitive pattern',
    (column, value) => sql`(${insensitive(column)} like ${value})`,
  ),
  text(
    '_nilike',
    'does the column NOT match the given case-insensitive pattern',
    (column, value) => sql`(${insensitive(column)} not like ${value})`,
  ),
  regex(
    '_regex',
    'does the column match the given regular expression, case sensitive',
    (column, value) => sql`(${column} regexp concat('(?-i)', ${value}))`,
  ),
  regex(
    '_nregex',
    'does the column NOT match the given regular expression, case sensitive',
    (column, value) => sql`(${column} not regexp concat('(?-i)', ${value}))`,
  ),
  regex(
    '_iregex',
    'does the column match the given regular expression, case insensitive',
    (column, value) => sql`(${column} regexp concat('(?i)', ${value}))`,
  ),
  regex(
    '_niregex',
    'does the column NOT match the given regular expression, case insensitive',
    (column, value) => sql`(${column} not regexp concat('(?i)', ${value}))`,
  ),
];

export const JSON_COMPARISONS: readonly DbbComparison[] = [
  text('_contains', 'does the column contain the given json value', (column, value) => sql`json_contains(${column}, ${value})`),
  text('_contained_in', 'is the column contained in the given json value', (column, value) => sql`json_contains(${value}, ${column})`),
  {
    name: '_has_key',
    description: 'does the string exist as a top-level key in the column',
    argument: { kind: 'type', type: TEXT, list: false },
    compile: (column, { value }) => sql`json_contains(json_keys(${column}), json_quote(${value}))`,
  },
  {
    name: '_has_keys_any',
    description: 'do any of these strings exist as top-level keys in the column',
    argument: { kind: 'type', type: TEXT, list: true },
    compile: (column, { list }) => sql`exists (${list} where json_contains(json_keys(${column}), json_quote(\`v\`)))`,
  },
  {
    name: '_has_keys_all',
    description: 'do all of these strings exist as top-level keys in the column',
    argument: { kind: 'type', type: TEXT, list: true },
    compile: (column, { value }) => sql`json_contains(json_keys(${column}), ${value})`,
  },
];
