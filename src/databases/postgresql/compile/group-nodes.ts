/**
 * Rows of groups. Each is numbered within its group before its JSON is made, so that nothing is read for rows that are not on the page of
 * their group.
 */
import type { GroupNodes, GroupsField, OrderBy } from '../../../ir/select.ts';
import { EMPTY, identifier, integer, join, type Sql, sql } from '../../../sql/fragment.ts';
import type { Row } from '../../shared/row.ts';
import { readSql } from './bool-exp.ts';
import type { Context } from './context.ts';
import { fieldsOf } from './fields.ts';
import { objectShape } from './json-object.ts';
import { bigintSql } from './operand.ts';
import { keysOutside, orderBySql, orderingOf, type OrderKey } from './order-by.ts';
import type { Projection } from './projection.ts';

/** The select with the parts. */
interface Parts {
  readonly row: Row;
  readonly values: Projection;
  readonly alias: Sql;
  readonly parts: readonly Sql[];
}

export interface CompiledNodes {
  /** Joins of the select with the parts, for the order. */
  readonly joins: readonly Sql[];
  /** Compiles the select with the parts and the objects of the rows. @param inner compiles the select with the parts. Called last */
  around(inner: () => Sql): Sql;
  /** Compiles the list of a group. */
  list(field: GroupNodes): Sql;
}

/** @param orderBy order of the query */
export function nodesOf(context: Context, { fields }: GroupsField, orderBy: readonly OrderBy[], parts: Parts): CompiledNodes {
  const { alias } = parts;
  const all = fields.filter((field): field is GroupNodes => field.kind === 'nodes');
  const nodes = all.map((field, i) => nodeOf(context, field, field.orderBy ?? orderBy, parts, i));
  return {
    joins: nodes.flatMap(({ joins }) => joins),
    around(inner) {
      if (nodes.length === 0) return inner();
      const numbers = nodes.map(({ number }) => sql`, ${number}`);
      const numbered = sql`select ${alias}.*${join(numbers, EMPTY)} from (${inner()}) as ${alias}`;
      const records = nodes.map(({ record }) => sql`, ${record}`);
      const objects = nodes.map(({ object }) => object);
      return sql`select ${alias}.*${join(records, EMPTY)} from (${numbered}) as ${alias}${join(objects, EMPTY)}`;
    },
    list: (field) => (nodes[all.indexOf(field)] as CompiledNode).list,
  };
}

interface CompiledNode {
  readonly joins: readonly Sql[];
  /** Column with the number of the row in its group. */
  readonly number: Sql;
  /** Join with the object of a row. */
  readonly object: Sql;
  /** Column with the object. */
  readonly record: Sql;
  readonly list: Sql;
}

function nodeOf(
  context: Context,
  field: GroupNodes,
  orderBy: readonly OrderBy[],
  { row, values, alias, parts }: Parts,
  i: number,
): CompiledNode {
  const ordering = orderingOf(context, orderBy, row);
  const ties = field.ties.map((read): OrderKey => ({ value: values.add(readSql(context, read, row)), direction: EMPTY }));
  const order = orderBySql([...keysOutside(ordering.keys, values), ...ties]);
  const partition = parts.length === 0 ? EMPTY : sql`partition by ${join(parts, sql`, `)}`;
  const name = identifier(`:n${i}`);
  const number = sql`${alias}.${name}`;
  const node = identifier(`:node${i}`);
  const onPage = pageCondition(field, number);
  const { entries, joins } = fieldsOf(context, field.fields, values.row);
  const shape = objectShape(entries);
  const item = context.alias();
  const gate = onPage === null ? EMPTY : sql` from (select where ${onPage}) as ${context.alias()}${join(joins, EMPTY)}`;
  const object =
    onPage === null
      ? sql`${join(joins, EMPTY)} cross join lateral (select ${shape.columns}) as ${item}`
      : sql` left join lateral (select ${shape.columns}${gate}) as ${item} on true`;
  const filter = onPage === null ? EMPTY : sql` filter (where ${onPage})`;
  return {
    joins: ordering.joins,
    number: sql`row_number() over (${partition}${order}) as ${name}`,
    object,
    record: sql`${shape.record(item)} as ${node}`,
    list: sql`coalesce(json_agg(${alias}.${node} order by ${number})${filter}, '[]')`,
  };
}

/** Returns the condition that a row is on the page; `null` if all are. */
function pageCondition({ limit, offset }: GroupNodes, number: Sql): Sql | null {
  if (offset === null) return limit === null ? null : sql`${number} <= ${integer(limit)}`;
  const before = bigintSql(offset);
  // The difference never exceeds a bigint; the sum of offset and limit may.
  return limit === null ? sql`${number} > ${before}` : sql`${number} > ${before} and ${number} - ${before} <= ${integer(limit)}`;
}
