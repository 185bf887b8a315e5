/** Translates the part of a random request that data operations can express, both as a query and as JSON. */
import type { Json, JsonObject } from '../../src/util/json.ts';
import { type Args, type Field, jsonOf, type OrderTerm, refName, type Root, targetOf } from './query.ts';
import { type Exp, type Operand, type Ref, type Table, tableOf, type World } from './world.ts';

export type RowsRoot = Extract<Root, { readonly k: 'rows' }>;

export interface DataOperation {
  readonly root: RowsRoot;
  readonly body: JsonObject;
}

/** @param total whether the order of rows must be total. @returns null if nothing, or too little, can be expressed */
export function dataOperation(world: World, root: Root, total: boolean): DataOperation | null {
  if (root.k !== 'rows') return null;
  const table = tableOf(world, root.table);
  const args = expressible(world, table, root.args, total);
  const fields = args === null ? null : expressibleFields(world, table, root.fields, total);
  if (args === null || fields === null) return null;
  const columns = fields.map((field) => item(world, table, field));
  return { root: { ...root, args, fields }, body: { type: 'select', args: { table: root.table, columns, ...argsJson(args) } } };
}

function expressible(world: World, table: Table, args: Args, total: boolean): Args | null {
  if (args.where !== null && !isExpressible(world, table, args.where)) return null;
  if (args.distinctOn.length > 0) return null;
  const orderBy = args.orderBy.filter((term) => isExpressibleOrder(world, table, term));
  return total && orderBy.length < args.orderBy.length ? null : { ...args, orderBy };
}

function isExpressible(world: World, table: Table, exp: Exp): boolean {
  switch (exp.k) {
    case 'and':
    case 'or':
      return exp.items.every((each) => isExpressible(world, table, each));
    case 'not':
      return isExpressible(world, table, exp.item);
    case 'null':
    case 'compare':
      return !takesArgument(table, exp.ref);
    case 'related':
      return isExpressible(world, targetOf(world, table, exp.name), exp.item);
    default:
      return false;
  }
}

function takesArgument(table: Table, ref: Ref): boolean {
  return 'computed' in ref && table.computed.some((each) => each.name === ref.computed && each.result === 'scalar' && each.argument);
}

function isExpressibleOrder(world: World, table: Table, { path, last }: OrderTerm): boolean {
  if (last.kind !== 'read' || !('column' in last.ref)) return false;
  let from = table;
  for (const name of path) {
    if (!from.relationships.some((each) => each.name === name && each.kind === 'object')) return false;
    from = targetOf(world, from, name);
  }
  return true;
}

/** Each column once and under its own name. */
function expressibleFields(world: World, table: Table, fields: readonly Field[], total: boolean): readonly Field[] | null {
  const selected = new Map<string, Field>();
  for (const field of fields) {
    if (field.k === 'read' && !takesArgument(table, field.ref)) {
      const alias = refName(field.ref);
      selected.set(alias, { ...field, alias, path: null, more: null });
    } else if (field.k === 'rows' && table.relationships.some(({ name }) => name === field.name)) {
      const target = targetOf(world, table, field.name);
      const args = expressible(world, target, field.args, total);
      const inner = args === null ? null : expressibleFields(world, target, field.fields, total);
      if (args !== null && inner !== null) selected.set(field.alias, { ...field, args, fields: inner });
    }
  }
  return selected.size === 0 ? null : [...selected.values()];
}

function item(world: World, table: Table, field: Field): Json {
  if (field.k === 'read') return refName(field.ref);
  if (field.k !== 'rows') throw new Error(`${field.k} was left out`);
  const target = targetOf(world, table, field.name);
  return {
    name: field.name,
    alias: field.alias,
    columns: field.fields.map((each) => item(world, target, each)),
    ...argsJson(field.args),
  };
}

function argsJson({ where, orderBy, limit, offset }: Args): JsonObject {
  return {
    ...(where === null ? {} : { where: condition(where) }),
    ...(orderBy.length === 0 ? {} : { order_by: orderBy.map(order) }),
    ...(limit === null ? {} : { limit }),
    ...(offset === null ? {} : { offset }),
  };
}

function order({ path, last, direction }: OrderTerm): JsonObject {
  if (last.kind !== 'read') throw new Error('aggregates were left out');
  const [type = 'asc', , nulls] = direction.split('_');
  return { column: [...path, refName(last.ref)].join('.'), type, ...(nulls === undefined ? {} : { nulls }) };
}

function condition(exp: Exp): JsonObject {
  switch (exp.k) {
    case 'and':
      return exp.items.length === 0 ? {} : { $and: exp.items.map(condition) };
    case 'or':
      return { $or: exp.items.map(condition) };
    case 'not':
      return { $not: condition(exp.item) };
    case 'null':
      return { [refName(exp.ref)]: { _is_null: exp.isNull } };
    case 'compare': {
      const comparison = { [exp.operator]: operand(exp.operand) };
      return { [refName(exp.ref)]: exp.cast ? { _cast: { String: comparison } } : comparison };
    }
    case 'related':
      return { [exp.name]: condition(exp.item) };
    default:
      throw new Error(`${exp.k} was left out`);
  }
}

function operand(value: Operand): Json {
  if ('session' in value) throw new Error('session variables are for rules');
  return 'values' in value ? value.values.map(jsonOf) : jsonOf(value.value);
}
