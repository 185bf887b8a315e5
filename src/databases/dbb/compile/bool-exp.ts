/** Conditions on a row, and reads of its columns: together because a masked read holds a condition. */
import { type CatalogType, sameName } from '../../../catalog/catalog.ts';
import { SvcError } from '../../../errors/svc-error.ts';
import { type AggregatePredicate, type BoolExp, type Compare, type CompareColumns, type Exists, someLeaf } from '../../../ir/bool-exp.ts';
import type { Read } from '../../../ir/read.ts';
import type { Relation } from '../../../ir/relation.ts';
import { comparisonNamed, compareValueSql, joinConditions, logicSql, nullSafeSql, nullTest, whereSql } from '../../../sql/condition.ts';
import { EMPTY, join, type Sql, sql } from '../../../sql/fragment.ts';
import { ownScope, type Row, rowOutside, type Scope } from '../../../sql/row.ts';
import { familyOf } from '../families.ts';
import { COMMON_COMPARISONS, type DbbComparison } from '../operators.ts';
import { dbbScalar } from '../types.ts';
import { aggregateCall } from './aggregate-call.ts';
import type { Context } from './context.ts';
import { argumentOf, operandSql } from './operand.ts';
import { relationSql } from './relation.ts';

/** The value of a read in a row, masked where the role may not see it. */
export function readSql(context: Context, read: Read, row: Row): Sql {
  if (read.kind !== 'column') throw new SvcError('not-supported', 'MariaDB has neither computed fields nor casts of columns');
  const column = row.column(read.column);
  // Whatever is not zero is true.
  const value = familyOf(read.type).kind === 'boolean' ? sql`(${column} <> 0)` : column;
  if (read.mask === undefined) return value;
  return sql`case when ${conditionSql(context, read.mask, ownScope(row))} then ${value} end`;
}

/** A condition as one boolean expression. */
export function conditionSql(context: Context, exp: BoolExp, scope: Scope): Sql {
  switch (exp.kind) {
    case 'constant':
    case 'and':
    case 'or':
    case 'not':
      return logicSql(exp, (item) => conditionSql(context, item, scope));
    case 'guarded': {
      const guard = conditionSql(context, exp.guard, scope);
      const item = conditionSql(context, exp.item, scope);
      if (!mayFail(exp.item)) return sql`(${guard} and ${item})`;
      // The parts of a conjunction are evaluated in any order, those of a `case` only when they are called for.
      return sql`(${guard} and case when ${conditionSql(context, exp.guard, scope)} then ${item} else false end)`;
    }
    case 'compare':
      return compareSql(context, exp, scope);
    case 'is-null':
      return sql`(${nullTest(readSql(context, exp.left, scope.row), exp.isNull)})`;
    case 'compare-columns':
      return compareColumnsSql(context, exp, scope);
    case 'exists':
      return sql`exists (select 1 from ${relatedRows(context, exp, scope).body})`;
    case 'aggregate-predicate':
      return aggregatePredicateSql(context, exp, scope);
  }
}

/** Whether the database may refuse the condition when it meets a row. */
function mayFail(exp: BoolExp): boolean {
  return someLeaf(exp, (leaf) => {
    if (leaf.kind === 'exists' || leaf.kind === 'aggregate-predicate') return mayFail(leaf.where);
    return leaf.kind === 'compare' && comparisonOf(leaf.left.type, leaf.operator).mayFail === true;
  });
}

/** The conditions of a select's `where`. */
export function conditionsOf(context: Context, exp: BoolExp, scope: Scope): readonly Sql[] {
  if (exp.kind === 'and') return exp.items.flatMap((item) => conditionsOf(context, item, scope));
  return exp.kind === 'constant' && exp.value ? [] : [conditionSql(context, exp, scope)];
}

/** `<from> <where>` of the rows that an `exists` or an aggregate is about. */
function relatedRows(context: Context, exp: Exists | AggregatePredicate, scope: Scope): { readonly body: Sql; readonly row: Row } {
  const { item, row } = relationSql(context, exp.from);
  const conditions = [
    ...(exp.join === null ? [] : joinConditions(exp.join.columns, scope.row, row)),
    ...otherRows(context, exp.from, row),
    ...conditionsOf(context, exp.where, { row, outer: scope }),
  ];
  return { body: sql`${item}${whereSql(conditions)}`, row };
}

function otherRows({ unseen }: Context, from: Relation, row: Row): readonly Sql[] {
  return unseen !== null && from.kind === 'table' && sameName(from.name, unseen.table) ? [unseen.isOther(row)] : [];
}

function aggregatePredicateSql(context: Context, exp: AggregatePredicate, scope: Scope): Sql {
  if (exp.predicate.length === 0) return sql`true`;
  const { body, row } = relatedRows(context, exp, scope);
  const aggregate = aggregateCall(
    exp.function,
    exp.arguments.map((read) => readSql(context, read, row)),
    exp.distinct,
  );
  const comparisons = exp.predicate.map((comparison) =>
    comparison.kind === 'is-null'
      ? nullTest(aggregate, comparison.isNull)
      : comparisonNamed(comparison.operator, COMMON_COMPARISONS).compile(aggregate, argumentOf(context, comparison.operand)),
  );
  return sql`(select ${join(comparisons, sql` and `)} from ${body})`;
}

function compareSql(context: Context, exp: Compare, scope: Scope): Sql {
  const left = readSql(context, exp.left, scope.row);
  const { argument } = exp;
  if (argument.kind === 'fields') throw new Error(`invariant: unknown operator ${exp.operator}`);
  const { operand } = argument;
  const comparison = comparisonOf(exp.left.type, exp.operator);
  const perRow = COMMON_COMPARISONS.includes(comparison) ? undefined : 1;
  const plain = (): Sql => comparison.compile(left, argumentOf(context, operand, perRow));
  return compareValueSql(exp, left, operand.value, plain, () => operandSql(operand));
}

function compareColumnsSql(context: Context, exp: CompareColumns, scope: Scope): Sql {
  const left = readSql(context, exp.left, scope.row);
  const right = readSql(context, exp.right, exp.rightRow === 'root' ? rowOutside(scope, exp.levels) : scope.row);
  const collated = withCollation(exp.left.type, exp.right.type, right);
  const plain = comparisonNamed(exp.operator, COMMON_COMPARISONS).compile(left, { value: collated, list: EMPTY });
  return exp.nullSafe ? nullSafeSql(plain, exp.operator, left, right) : plain;
}

/** The database does not choose between two collations: that of the left column holds. */
function withCollation(left: CatalogType, right: CatalogType, value: Sql): Sql {
  const [own, other] = [left.collation?.name, right.collation?.name];
  if (own === undefined || other === undefined || own === other) return value;
  return sql`convert(${value} using utf8mb4) collate ${collationName(own)}`;
}

/** Collations of other character sets do not hold for texts of all of Unicode; what one tells apart by case or code stays apart. */
function collationName(name: string): Sql {
  if (/^utf8mb4_\w+$/.test(name)) return { kind: 'identifier', name };
  if (name.endsWith('_nopad_bin')) return sql`utf8mb4_nopad_bin`;
  return /_(?:bin|cs)$/.test(name) ? sql`utf8mb4_bin` : sql`utf8mb4_general_ci`;
}

function comparisonOf(type: CatalogType, operator: string): DbbComparison {
  return comparisonNamed(operator, COMMON_COMPARISONS, dbbScalar(type).comparisons);
}
