/** Conditions on a row. */
import { type CatalogType, sameName } from '../../../catalog/catalog.ts';
import { SvcError } from '../../../errors/svc-error.ts';
import { type AggregatePredicate, type BoolExp, type Exists, someLeaf } from '../../../ir/bool-exp.ts';
import type { Relation } from '../../../ir/relation.ts';
import { comparisonNamed, joinConditions, whereSql } from '../../shared/condition.ts';
import { type Conditions, conditionsOver } from '../../shared/conditions.ts';
import type { ComparisonOperator } from '../../shared/operators.ts';
import { type Sql, sql } from '../../../sql/fragment.ts';
import type { Row, Scope } from '../../shared/row.ts';
import { familyOf } from '../families.ts';
import { COMMON_COMPARISONS } from '../operators.ts';
import { mariadbScalar } from '../types.ts';
import { aggregateCall } from './aggregate-call.ts';
import type { Context } from './context.ts';
import { listSql, operandSql } from './operand.ts';
import { relationSql } from './relation.ts';

const conditions: Conditions<Context> = conditionsOver({
  value(_context, read, row) {
    if (read.kind !== 'column') throw new SvcError('not-supported', 'MariaDB has neither computed fields nor casts of columns');
    const column = row.column(read.column);
    // Every value but zero is true.
    return familyOf(read.type).kind === 'boolean' ? sql`(${column} <> 0)` : column;
  },
  common: COMMON_COMPARISONS,
  operator: operatorOf,
  argument: (context, operand, _operator, perRow) => ({
    value: () => operandSql(operand, perRow),
    list: () => listSql(context, operand),
  }),
  otherColumn: withCollation,
  mayFail,
  exists: (context, exp, scope) => sql`exists (select 1 from ${relatedRows(context, exp, scope).body})`,
  aggregate(context, exp, scope) {
    const { body, row } = relatedRows(context, exp, scope);
    return sql`(select ${conditions.predicateHolds(context, exp, row)} from ${body})`;
  },
  aggregateCall,
});
export const { readSql, conditionSql, aggregateOf, predicateHolds } = conditions;

/** Returns whether evaluating the condition for a row may fail. */
function mayFail(exp: BoolExp): boolean {
  return someLeaf(exp, (leaf) => {
    if (leaf.kind === 'exists' || leaf.kind === 'aggregate-predicate') return mayFail(leaf.where);
    return leaf.kind === 'compare' && operatorOf(leaf.left.type, leaf.operator).mayFail === true;
  });
}

/** Compiles the conditions of a `where`, combined by `and`. */
export function conditionsOf(context: Context, exp: BoolExp, scope: Scope): readonly Sql[] {
  if (exp.kind === 'and') return exp.items.flatMap((item) => conditionsOf(context, item, scope));
  return exp.kind === 'constant' && exp.value ? [] : [conditionSql(context, exp, scope)];
}

/** Compiles `<from> <where>` for an `exists` or an aggregate. */
function relatedRows(context: Context, exp: Exists | AggregatePredicate, scope: Scope): { readonly body: Sql; readonly row: Row } {
  const { item, row } = relationSql(context, exp.from);
  const conditions = [
    ...(exp.join === null ? [] : joinConditions(exp.join.columns, scope.row, row)),
    ...otherRows(context, exp.from, row),
    ...conditionsOf(context, exp.where, { row, outer: scope }),
  ];
  return { body: sql`${item}${whereSql(conditions)}`, row };
}

function otherRows({ excluded }: Context, from: Relation, row: Row): readonly Sql[] {
  return excluded !== null && from.kind === 'table' && sameName(from.name, excluded.table) ? [excluded.isOther(row)] : [];
}

/** MariaDB refuses a comparison of two collations, so the collation of the left column is used. */
function withCollation(left: CatalogType, right: CatalogType, value: Sql): Sql {
  const [own, other] = [left.collation?.name, right.collation?.name];
  if (own === undefined || other === undefined || own === other) return value;
  return sql`convert(${value} using utf8mb4) collate ${collationName(own)}`;
}

/** Replaces collations of other character sets, which cannot represent all of Unicode. Case-sensitive ones stay case-sensitive. */
function collationName(name: string): Sql {
  if (/^utf8mb4_\w+$/.test(name)) return { kind: 'identifier', name };
  if (name.endsWith('_nopad_bin')) return sql`utf8mb4_nopad_bin`;
  return /_(?:bin|cs)$/.test(name) ? sql`utf8mb4_bin` : sql`utf8mb4_general_ci`;
}

function operatorOf(type: CatalogType, name: string): ComparisonOperator {
  return comparisonNamed(name, COMMON_COMPARISONS, mariadbScalar(type).comparisons);
}
