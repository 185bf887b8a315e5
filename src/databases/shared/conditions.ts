/** Compiler of conditions and reads for every kind of database. They belong together because a masked read has a condition. */
import type { CatalogType } from '../../catalog/catalog.ts';
import type {
  AggregateComparison,
  AggregatePredicate,
  BoolExp,
  Compare,
  CompareColumns,
  Exists,
  Guarded,
  Read,
} from '../../ir/bool-exp.ts';
import type { Operand } from '../../ir/value.ts';
import { join, type Sql, sql } from '../../sql/fragment.ts';
import type { AggregateArgument } from './aggregates.ts';
import { comparisonNamed, compareValueSql, logicSql, nullSafeSql, nullTest } from './condition.ts';
import type { CompiledArgument, ComparisonOperator } from './operators.ts';
import { ownScope, type Row, rowOutside, type Scope } from './row.ts';

/** The parts of conditions that differ between kinds. @typeParam C context of the compilation of one statement */
export interface ConditionDialect<C> {
  /** Compiles a read without its mask. @throws SvcError not-supported */
  value(context: C, read: Read, row: Row): Sql;
  /** Operators of every type. */
  readonly common: readonly ComparisonOperator[];
  /** Returns the operator of this name for values of the type. @throws SvcError not-supported */
  operator(type: CatalogType, name: string): ComparisonOperator;
  /**
   * Compiles the right side of a comparison.
   * @param operator of a comparison with one operand; absent for aggregates and fields
   * @param perRow of the parameter
   */
  argument(context: C, operand: Operand, operator?: ComparisonOperator, perRow?: number): Pick<CompiledArgument, 'value' | 'list'>;
  /** Returns a condition that fails for operands that the operator does not accept; `null` if it accepts all. */
  validity?(operator: ComparisonOperator, operand: Operand): Sql | null;
  /** Compiles the column on the right side of a comparison. */
  otherColumn?(left: CatalogType, right: CatalogType, value: Sql): Sql;
  /** Returns whether the condition may fail for some rows. */
  mayFail(exp: BoolExp): boolean;
  exists(context: C, exp: Exists, scope: Scope): Sql;
  aggregate(context: C, exp: AggregatePredicate, scope: Scope): Sql;
  aggregateCall(name: string, operands: readonly AggregateArgument[], distinct: boolean): Sql;
}

export interface Conditions<C> {
  /** Compiles a read of a row, masked if the role may not see it. */
  readSql(context: C, read: Read, row: Row): Sql;
  /** Compiles a condition to one boolean expression. */
  conditionSql(context: C, exp: BoolExp, scope: Scope): Sql;
  /** Compiles a condition that may fail for rows that its guard excludes. */
  guardedSql(context: C, exp: Guarded, scope: Scope): Sql;
  /**
   * Compiles the comparisons of a predicate with an aggregate.
   * @param type of the aggregate, whose operators apply. Default: the operators of every type
   */
  aggregateHolds(context: C, predicate: readonly AggregateComparison[], aggregate: Sql, type?: CatalogType): Sql;
  /** Compiles an aggregate over reads of the rows of a select. */
  aggregateOf(context: C, name: string, reads: readonly Read[], row: Row, distinct?: boolean): Sql;
  /** Compiles a predicate on the aggregate of the rows of a select. */
  predicateHolds(context: C, exp: AggregatePredicate, row: Row): Sql;
}

export function conditionsOver<C>(dialect: ConditionDialect<C>): Conditions<C> {
  const comparisons = comparisonsOver(dialect);

  function readSql(context: C, read: Read, row: Row): Sql {
    const value = dialect.value(context, read, row);
    if (read.kind === 'cast' || read.mask === undefined) return value;
    return sql`case when ${conditionSql(context, read.mask, ownScope(row))} then ${value} end`;
  }

  function conditionSql(context: C, exp: BoolExp, scope: Scope): Sql {
    switch (exp.kind) {
      case 'constant':
      case 'and':
      case 'or':
      case 'not':
        return logicSql(exp, (item) => conditionSql(context, item, scope));
      case 'guarded': {
        const guard = conditionSql(context, exp.guard, scope);
        const item = dialect.mayFail(exp.item) ? guardedSql(context, exp, scope) : conditionSql(context, exp.item, scope);
        return sql`(${guard} and ${item})`;
      }
      case 'compare':
        return comparisons.compareSql(context, exp, readSql(context, exp.left, scope.row));
      case 'is-null':
        return sql`(${nullTest(readSql(context, exp.left, scope.row), exp.isNull)})`;
      case 'compare-columns': {
        const left = readSql(context, exp.left, scope.row);
        const right = readSql(context, exp.right, exp.rightRow === 'root' ? rowOutside(scope, exp.levels) : scope.row);
        return comparisons.compareColumnsSql(exp, left, right);
      }
      case 'exists':
        return dialect.exists(context, exp, scope);
      case 'aggregate-predicate':
        return exp.predicate.length === 0 ? sql`true` : dialect.aggregate(context, exp, scope);
    }
  }

  /** Databases evaluate the parts of a conjunction in any order, but the branches of a `case` only when they are reached. */
  function guardedSql(context: C, exp: Guarded, scope: Scope): Sql {
    const item = conditionSql(context, exp.item, { ...scope, fenced: true });
    return sql`case when ${conditionSql(context, exp.guard, scope)} then ${item} else false end`;
  }

  function aggregateOf(context: C, name: string, reads: readonly Read[], row: Row, distinct = false): Sql {
    const operands = reads.map((read) => ({ value: readSql(context, read, row), type: read.type }));
    return dialect.aggregateCall(name, operands, distinct);
  }

  function predicateHolds(context: C, exp: AggregatePredicate, row: Row): Sql {
    return comparisons.aggregateHolds(context, exp.predicate, aggregateOf(context, exp.function, exp.arguments, row, exp.distinct));
  }

  return { readSql, conditionSql, guardedSql, aggregateHolds: comparisons.aggregateHolds, aggregateOf, predicateHolds };
}

interface Comparisons<C> extends Pick<Conditions<C>, 'aggregateHolds'> {
  /** @param left compiled read of `exp.left` */
  compareSql(context: C, exp: Compare, left: Sql): Sql;
  /** @param left compiled read of `exp.left` @param right compiled read of `exp.right` */
  compareColumnsSql(exp: CompareColumns, left: Sql, right: Sql): Sql;
}

/** Comparisons of values that have been read. */
function comparisonsOver<C>(dialect: ConditionDialect<C>): Comparisons<C> {
  function operandArgument(context: C, operand: Operand, operator?: ComparisonOperator): CompiledArgument {
    // The common operators hash the values of a list, and values that differ do so early.
    const perRow = operator === undefined || dialect.common.includes(operator) ? undefined : 1;
    return { ...NO_FIELDS, ...dialect.argument(context, operand, operator, perRow) };
  }

  function fieldsArgument(context: C, fields: Readonly<Record<string, Operand>>): CompiledArgument {
    const has = (name: string): boolean => Object.hasOwn(fields, name);
    const field = (name: string, type?: CatalogType): Sql => {
      const operand = has(name) ? fields[name] : undefined;
      if (operand === undefined) return NO_FIELDS.field(name);
      return dialect.argument(context, type === undefined ? operand : { ...operand, type }).value();
    };
    return { value: () => field(''), list: noList, field, has };
  }

  function holdsSql(context: C, left: Sql, operator: ComparisonOperator, operand: Operand): Sql {
    const holds = operator.compile(left, operandArgument(context, operand, operator));
    const valid = dialect.validity?.(operator, operand) ?? null;
    return valid === null ? holds : sql`(${holds} and ${valid})`;
  }

  function compareSql(context: C, exp: Compare, left: Sql): Sql {
    const operator = dialect.operator(exp.left.type, exp.operator);
    const { argument } = exp;
    if (argument.kind === 'fields') return operator.compile(left, fieldsArgument(context, argument.fields));
    const { operand } = argument;
    const plain = (): Sql => holdsSql(context, left, operator, operand);
    return compareValueSql(exp, left, operand.value, plain, () => dialect.argument(context, operand).value());
  }

  function compareColumnsSql(exp: CompareColumns, left: Sql, right: Sql): Sql {
    const compared = dialect.otherColumn?.(exp.left.type, exp.right.type, right) ?? right;
    const plain = dialect.operator(exp.left.type, exp.operator).compile(left, { ...NO_FIELDS, value: () => compared, list: noList });
    return exp.nullSafe ? nullSafeSql(plain, exp.operator, left, right) : plain;
  }

  function aggregateHolds(context: C, predicate: readonly AggregateComparison[], aggregate: Sql, type?: CatalogType): Sql {
    const parts = predicate.map((comparison) => {
      if (comparison.kind === 'is-null') return nullTest(aggregate, comparison.isNull);
      const { operand, operator: name } = comparison;
      if (type === undefined) return comparisonNamed(name, dialect.common).compile(aggregate, operandArgument(context, operand));
      return holdsSql(context, aggregate, dialect.operator(type, name), operand);
    });
    return join(parts, sql` and `);
  }

  return { compareSql, compareColumnsSql, aggregateHolds };
}

const NO_FIELDS: Pick<CompiledArgument, 'field' | 'has'> = {
  field(name) {
    throw new Error(`invariant: operator without its field ${name}`);
  },
  has: () => false,
};

/** `CompiledArgument.list` of kinds whose lists are values. */
export function noList(): never {
  throw new Error('invariant: the value is no list');
}
