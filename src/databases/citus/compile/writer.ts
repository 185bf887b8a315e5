/** Set plans on Citus: a common table expression for each relation. */
import { comparesWithOuterRow, type Read } from '../../../ir/bool-exp.ts';
import { EMPTY, integer, join, string, type Sql, sql } from '../../../sql/fragment.ts';
import { aliasRow, ownScope } from '../../shared/row.ts';
import { type Aggregates, type RelatedConditions, type SetWriter, withRelatedConditions } from '../../shared/set-plan/writer.ts';
import { aggregateCall, isSorted } from '../../postgresql/compile/aggregate-call.ts';
import { aggregateHolds, readSql } from '../../postgresql/compile/bool-exp.ts';
import type { RelatedConditionCompiler } from '../../postgresql/compile/context.ts';
import { leafSql } from '../../postgresql/compile/fields.ts';
import { bigintSql } from '../../postgresql/compile/operand.ts';
import { directionSql } from '../../postgresql/compile/order-by.ts';
import { isStringified } from '../../postgresql/compile/output.ts';
import { callSql, relationSql } from '../../postgresql/compile/relation.ts';
import { aggregateOfNothing, conditionsOf, relatedConditionsIn, tuple } from './condition.ts';
import { addRelation, type StatementDraft, HERE, IS_HERE } from './context.ts';
import { jsonObject } from './json-object.ts';

/**
 * A second function, which prevents PostgreSQL from inlining the first one. Functions in SQL are inlined after Citus has looked for tables:
 * the statement would read the coordinator's own part of a distributed table, which is empty. The name of its column is unique.
 */
const NOTHING = sql`"pg_catalog"."json_to_recordset"('[]') as (":nothing" "pg_catalog"."int4")`;

export function writerOf(draft: StatementDraft): SetWriter {
  const { context } = draft;
  const within = <T>(relatedConditions: RelatedConditions | null, make: () => T): T =>
    relatedConditions === null ? make() : withRelatedConditions(context, joinedConditionsOf(draft, relatedConditions), make);
  const writer: SetWriter = {
    alias: () => context.alias(),
    relation: (select) => addRelation(draft, select),
    named: true,
    from(relation) {
      if (relation.kind === 'table') return relationSql(context, relation, null);
      const alias = context.alias();
      const item = sql`rows from (${callSql(context, relation.call, null)}, ${NOTHING}) as ${alias} join ${HERE} on ${IS_HERE}`;
      return { item, row: aliasRow(alias) };
    },
    conditions: (exp, row) => conditionsOf(draft, exp, ownScope(row)),
    read: (read, row, relatedConditions) => within(relatedConditions, () => readSql(context, read, row)),
    distinctKey: (read, row, relatedConditions) => within(relatedConditions, () => readSql(context, read, row)),
    field: (field, row, relatedConditions) => within(relatedConditions, () => leafSql(context, field, row)),
    among: (columns, values, from) => sql`(${tuple(columns)} in (select ${join(values, sql`, `)} from ${from}))`,
    orderKey: (value, order) => sql`${value}${directionSql(order)}`,
    page(limit, ties, offset) {
      const rows = limit === null ? EMPTY : ties ? sql` fetch first ${integer(limit)} rows with ties` : sql` limit ${integer(limit)}`;
      return offset === null ? rows : sql`${rows} offset ${bigintSql(offset)}`;
    },
    rowLimit: integer,
    count: (value) => sql`coalesce(${bigintSql(value)}, 0)`,
    aggregate: aggregateCall,
    aggregateHolds: (comparisons, aggregate) => aggregateHolds(context, comparisons, aggregate),
    aggregateOfNothing,
    aggregated: (item, of) => aggregatedSql(context, item, of),
    // Partial results of several servers cannot be combined if values are sorted.
    aggregatesInPlace: (items) =>
      items.every((item) =>
        item.kind === 'count'
          ? !item.distinct && item.columns.length < 2
          : item.fields.every((field) => field.kind === 'typename' || !isSorted(item.function, [field.read.type], false)),
      ),
    object: jsonObject,
    typename: typenameSql,
    array(item, order, only) {
      const sorted = order.length === 0 ? EMPTY : sql` order by ${join(order, sql`, `)}`;
      return sql`json_agg(${item}${sorted})${only === null ? EMPTY : sql` filter (where ${only})`}`;
    },
    only: (object) => sql`coalesce((array_agg(${object}))[1], 'null')`,
    emptyArray: sql`'[]'::json`,
    arrayOrEmpty: (array) => sql`coalesce(${array}, '[]')`,
    objectOr: (object, _there, empty) => sql`coalesce(${object}, ${empty})`,
  };
  return writer;
}

function aggregatedSql(context: StatementDraft['context'], item: Aggregates, of: ((read: Read) => Sql) | null): Sql {
  if (item.kind === 'count') {
    if (of === null) return sql`0`;
    const operands = item.columns.map((read) => ({ value: of(read), type: read.type }));
    return aggregateCall('count', operands, item.distinct);
  }
  return jsonObject(
    item.fields.map((field) => {
      if (field.kind === 'typename') return { key: field.alias, value: typenameSql(field.typeName) };
      if (of === null) return { key: field.alias, value: sql`null::text` };
      const aggregate = aggregateCall(item.function, [{ value: of(field.read), type: field.read.type }], false);
      const asText = context.options.stringifyNumericTypes && isStringified(field.columnType);
      if (!asText) return { key: field.alias, value: aggregate };
      return { key: field.alias, value: field.columnType.array ? sql`(${aggregate})::text[]` : sql`(${aggregate})::text` };
    }),
  );
}

function typenameSql(name: string): Sql {
  return sql`${string(name)}::text`;
}

/** Compiles conditions in values of rows to which their results are joined. */
export function joinedConditionsOf(draft: StatementDraft, relatedConditions: RelatedConditions): RelatedConditionCompiler {
  const inside = relatedConditionsIn(draft);
  return {
    ...inside,
    exists: (exp, scope) => (comparesWithOuterRow(exp.where, 1) ? inside.exists(exp, scope) : relatedConditions.exists(exp)),
    aggregate: (exp, scope) => (comparesWithOuterRow(exp.where, 1) ? inside.aggregate(exp, scope) : relatedConditions.aggregate(exp)),
  };
}
