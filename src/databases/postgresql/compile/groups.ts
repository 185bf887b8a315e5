/**
 * Groups as a JSON list. An inner select has the parts and all other values that are read of a row, so that each expression is written
 * once. The select around it groups, sorts and cuts, and the outermost one makes the JSON of the groups that are left.
 */
import type { GroupedRow, GroupField, GroupNodes, GroupPart, GroupsField, Having, KeyField, RowSet } from '../../../ir/select.ts';
import type { BoolExp, Read } from '../../../ir/bool-exp.ts';
import { EMPTY, identifier, integer, join, string, type Sql, sql } from '../../../sql/fragment.ts';
import { joinConditions, whereSql } from '../../shared/condition.ts';
import { ownScope, type Row } from '../../shared/row.ts';
import { aggregateCall } from './aggregate-call.ts';
import { itemSql } from './aggregate-result.ts';
import { aggregateHolds, conditionSql, filterOf, readSql } from './bool-exp.ts';
import type { Context } from './context.ts';
import { partMayFail, relatedPartsMayFail } from './fields-may-fail.ts';
import { builtObject, type Entry, objectShape } from './json-object.ts';
import { bigintSql } from './operand.ts';
import { directionSql } from './order-by.ts';
import { outputSql } from './output.ts';
import { type Projection, projection } from './projection.ts';
import { printedKey } from './printed-key.ts';
import { relationSql } from './relation.ts';
import { timeBucketSql } from './time-bucket.ts';
import { nodesOf } from './group-nodes.ts';
import { type CompiledRows, isBaseNeeded, isPaged } from './row-set.ts';

/** Rows to group, and which of them. */
export interface GroupedRows {
  readonly compiled: CompiledRows;
  readonly rows: RowSet;
}

/** Compiles a select of one row with the column `json`. */
export function groupsSql(context: Context, field: GroupsField, grouped: GroupedRows): Sql {
  const source = sourceOf(context, field, grouped);
  const related = relatedRows(context, field, source.row);
  const alias = context.alias();
  const values = projection(source.row, alias);
  const parts = field.parts.map((part) => values.add(partSql(context, part, source.row, related)));
  const read = (of: Read): Sql => readOf(context, of, source.row, values);

  const group = context.alias();
  const columns: Sql[] = [];
  const added = new Map<Sql, Sql>();
  const add = (value: Sql): Sql => {
    const known = added.get(value);
    if (known !== undefined) return known;
    const name = identifier(`:${columns.length}`);
    columns.push(sql`${value} as ${name}`);
    const column = sql`${group}.${name}`;
    added.set(value, column);
    return column;
  };
  const nodes = nodesOf(context, field, grouped.rows.orderBy, { row: source.row, values, alias, parts });
  const compiler: GroupCompiler = {
    nodes: (of) => nodes.list(of),
    context,
    add,
    read,
    condition: (exp) => values.add(conditionSql(context, exp, ownScope(source.row))),
    parts: field.parts.map((part, i) => (part.kind === 'exists' ? (parts[i] as Sql) : printedKey(parts[i] as Sql, part.type))),
  };
  const shape = objectShape(field.fields.map((each): Entry => ({ key: each.alias, value: fieldSql(compiler, each) })));
  const order = orderSql(compiler, field, parts);
  const having = field.having === null ? EMPTY : sql` having ${havingSql(compiler, field.having)}`;

  const joins = [...related.map((row) => row.joined()), ...nodes.joins];
  const inner = nodes.around(() => source.select(values.columns(), joins));
  const limit = field.limit === null ? EMPTY : sql` limit ${integer(field.limit)}`;
  const offset = field.offset === null ? EMPTY : sql` offset ${bigintSql(field.offset)}`;
  const by = parts.length === 0 ? sql`()` : join(parts, COMMA);
  const groups = sql`select ${join(columns, COMMA)} from (${inner}) as ${alias} group by ${by}${having}${order}${limit}${offset}`;
  const item = context.alias();
  return sql`select coalesce(json_agg(${shape.item(item)}), '[]') as "json" from (select ${shape.columns} from (${groups}) as ${group}) as ${item}`;
}

const COMMA = sql`, `;

interface Source {
  readonly row: Row;
  select(columns: Sql, joins: readonly Sql[]): Sql;
}

/** Pages, and rows that must be found before related ones are joined, are a subquery. */
function sourceOf(context: Context, { related, parts }: GroupsField, { compiled, rows }: GroupedRows): Source {
  if (!isPaged(rows) && (related.length === 0 || !isBaseNeeded(rows))) {
    return { row: compiled.row, select: (columns, joins) => compiled.select(columns, joins, []) };
  }
  const alias = context.alias();
  const page = projection(compiled.row, alias);
  const isFenced = relatedPartsMayFail(related, parts);
  return {
    row: page.row,
    select: (columns, joins) => sql`select ${columns} from (${compiled.base(page.columns(), isFenced)}) as ${alias}${join(joins, EMPTY)}`,
  };
}

interface RelatedRow {
  /** Row of the subquery, for rows that are related to it in turn. */
  readonly row: Row;
  /** True, or null if there is no row. */
  readonly exists: Sql;
  /** Returns a value of the row, computed in the subquery. */
  value(make: (row: Row) => Sql): Sql;
  /** Compiles the join. Called last. */
  joined(): Sql;
}

function relatedRows(context: Context, field: GroupsField, own: Row): readonly RelatedRow[] {
  const rows: RelatedRow[] = [];
  field.related.forEach((each, i) => {
    const parent = each.parent === null ? own : (rows[each.parent] as RelatedRow).row;
    // As for a single row in a field: a value that may fail must not be computed for rows that the filter excludes.
    const mayFail = field.parts.some((part) => part.row === i && partMayFail(part));
    rows.push(relatedRow(context, each, parent, !each.join.unique || mayFail));
  });
  return rows;
}

function relatedRow(context: Context, { from, join: on, where }: GroupedRow, parent: Row, isLimited: boolean): RelatedRow {
  const { item, row } = relationSql(context, from, parent);
  const filter = filterOf(context, where, ownScope(row));
  const conditions = [...joinConditions(on.columns, parent, row), ...filter.conditions];
  const alias = context.alias();
  const values = projection(row, alias);
  const exists = values.add(sql`true`);
  const one = isLimited ? sql` limit 1` : EMPTY;
  return {
    row: values.row,
    exists,
    value: (make) => values.add(make(row)),
    joined: () =>
      sql` left join lateral (select ${values.columns()} from ${item}${join(filter.joins, EMPTY)}${whereSql(conditions)}${one}) as ${alias} on true`,
  };
}

function partSql(context: Context, part: GroupPart, own: Row, related: readonly RelatedRow[]): Sql {
  if (part.kind === 'exists') return (related[part.row] as RelatedRow).exists;
  const { read, bucket } = part;
  const readIn = (row: Row): Sql => {
    const value = readSql(context, read, row);
    return bucket === undefined ? value : timeBucketSql(value, read.type, bucket);
  };
  return part.row === null ? readIn(own) : (related[part.row] as RelatedRow).value(readIn);
}

/** Returns a value of the grouped row. Values other than columns are computed with the row. */
function readOf(context: Context, read: Read, row: Row, values: Projection): Sql {
  if (read.kind === 'column' && read.mask === undefined) return values.row.column(read.column);
  return values.add(readSql(context, read, row));
}

interface GroupCompiler {
  readonly context: Context;
  /** Adds a value to the select that groups. @returns its column */
  add(value: Sql): Sql;
  read(read: Read): Sql;
  /** Compiles the rows of a group. */
  nodes(field: GroupNodes): Sql;
  /** Compiles a condition on a row, computed with the row. */
  condition(exp: BoolExp): Sql;
  /** Parts as they are printed, in the select that groups. */
  readonly parts: readonly Sql[];
}

function fieldSql(compiler: GroupCompiler, field: GroupField): Sql {
  switch (field.kind) {
    case 'typename':
      return sql`${string(field.typeName)}::text`;
    case 'nodes':
      return compiler.add(compiler.nodes(field));
    case 'key':
      return keySql(compiler, field.fields);
    case 'aggregate':
      return builtObject(
        field.fields.map((item) => ({ key: item.alias, value: itemSql(compiler.context, item, compiler.read, compiler.add) })),
      );
  }
}

function keySql(compiler: GroupCompiler, fields: readonly KeyField[]): Sql {
  const value = (field: KeyField): Sql => {
    switch (field.kind) {
      case 'typename':
        return sql`${string(field.typeName)}::text`;
      case 'row':
        return sql`case when ${compiler.add(compiler.parts[field.part] as Sql)} then ${keySql(compiler, field.fields)} end`;
      case 'part': {
        const printed = outputSql(compiler.context, compiler.add(compiler.parts[field.part] as Sql), field.type);
        return field.upperCase ? sql`upper(${printed})` : printed;
      }
    }
  };
  return builtObject(fields.map((field) => ({ key: field.alias, value: value(field) })));
}

function havingSql(compiler: GroupCompiler, having: Having): Sql {
  switch (having.kind) {
    case 'and':
    case 'or':
      if (having.items.length === 0) return having.kind === 'and' ? sql`true` : sql`false`;
      return sql`(${join(
        having.items.map((item) => havingSql(compiler, item)),
        having.kind === 'and' ? sql` and ` : sql` or `,
      )})`;
    case 'not':
      return sql`(not ${havingSql(compiler, having.item)})`;
    case 'aggregate': {
      if (having.predicate.length === 0) return sql`true`;
      const call = callSql(compiler, having.function, having.arguments, having.distinct);
      const filtered = having.filter === null ? call : sql`${call} filter (where ${compiler.condition(having.filter)})`;
      return sql`(${aggregateHolds(compiler.context, having.predicate, filtered, having.type)})`;
    }
  }
}

function callSql(compiler: GroupCompiler, name: string, reads: readonly Read[], distinct: boolean): Sql {
  const operands = reads.map((read) => ({ value: compiler.read(read), type: read.type }));
  return aggregateCall(name, operands, distinct);
}

function orderSql(compiler: GroupCompiler, { orderBy }: GroupsField, parts: readonly Sql[]): Sql {
  if (orderBy.length === 0) return EMPTY;
  const keys = orderBy.map((item) => {
    const { term } = item;
    const value = term.kind === 'part' ? (parts[term.part] as Sql) : callSql(compiler, term.function, term.arguments, false);
    return sql`${value}${directionSql(item)}`;
  });
  return sql` order by ${join(keys, COMMA)}`;
}
