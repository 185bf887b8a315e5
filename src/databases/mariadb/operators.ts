/** Comparison operators of MariaDB. A new operator is one entry here. */
import {
  call,
  commonComparisons,
  keyComparisons,
  type ComparisonOperator,
  operator,
  regularExpressions,
  textComparisons,
} from '../shared/operators.ts';
import { type Sql, sql } from '../../sql/fragment.ts';
import { TEXT } from './base-type.ts';

export const COMMON_COMPARISONS = commonComparisons(
  (column, { list }) => sql`(${column} in (${list()}))`,
  // Membership in a null list is unknown.
  (column, { list, value }) => sql`(${column} not in (${list()}) and ${value()} is not null)`,
);

function regex(name: string, flag: Sql, sensitivity: string): readonly ComparisonOperator[] {
  const test = (column: Sql, value: Sql, not: Sql): Sql => sql`(${column} ${not}regexp concat(${flag}, ${value}))`;
  return regularExpressions(name, `regular expression, case ${sensitivity}`, test, { mayFail: true });
}

export const TEXT_COMPARISONS = textComparisons(
  (column, value, not) => sql`(convert(${column} using utf8mb4) collate utf8mb4_general_ci ${not}like ${value})`,
  [...regex('regex', sql`'(?-i)'`, 'sensitive'), ...regex('iregex', sql`'(?i)'`, 'insensitive')],
);

const hasKeys = (column: Sql, keys: Sql): Sql => sql`json_contains(json_keys(${column}), ${keys})`;
const hasKey = (column: Sql, key: Sql): Sql => hasKeys(column, sql`json_quote(${key})`);

export const JSON_COMPARISONS: readonly ComparisonOperator[] = [
  operator('_contains', 'does the column contain the given json value', call(sql`json_contains`)),
  operator('_contained_in', 'is the column contained in the given json value', (column, value) => sql`json_contains(${value}, ${column})`),
  ...keyComparisons(TEXT, hasKey, (column, { list }) => sql`exists (${list()} where ${hasKey(column, sql`\`v\``)})`, hasKeys),
];
