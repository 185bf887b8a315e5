/**
 * Defines as plainly as possible what a role sees: which rows, which of their cells, and what conditions
 * evaluate to in three-valued logic. Permissions read all data, requests the data that the role sees.
 * Inherited roles see everything that any parent with a permission on the table sees.
 */
import { aggregate } from './aggregate.ts';
import { all, any, compare, isJsonb, jsonbText, not, same, type Truth } from './values.ts';
import {
  columnOf,
  type Data,
  type Exp,
  kindOf,
  type Operand,
  type Ref,
  type Relationship,
  type Row,
  rowsOf,
  type ScalarComputed,
  type Session,
  type Table,
  tableOf,
  type Value,
  type World,
} from './world.ts';

export interface Scene {
  readonly world: World;
  readonly data: Data;
  readonly session: Session;
  /** Rows that a role sees, computed once. */
  readonly visible: Map<string, readonly Row[]>;
}

export interface Place {
  readonly scene: Scene;
  readonly table: Table;
  readonly row: Row;
  /** Null inside permissions, which see everything. */
  readonly role: string | null;
  /** The row that a permission is evaluated for. */
  readonly root: Row;
}

export function visibleRows(scene: Scene, role: string | null, table: string): readonly Row[] {
  if (role === null) return rowsOf(scene.world, scene.data, table);
  const key = `${role} ${table}`;
  let rows = scene.visible.get(key);
  if (rows === undefined) {
    const access = accessOf(scene.world, role, table);
    rows = access === null ? [] : rowsOf(scene.world, scene.data, table).filter((row) => access.sees(row, scene));
    scene.visible.set(key, rows);
  }
  return rows;
}

/** The cell as the role sees it. @param more the argument of a computed field that has one */
export function read(place: Place, ref: Ref, more = 0): Value {
  const { scene, table, row, role } = place;
  const name = 'column' in ref ? ref.column : ref.computed;
  if (role !== null && accessOf(scene.world, role, table.name)?.seesCell(row, name, scene) !== true) return null;
  if ('column' in ref) return row[ref.column] ?? null;
  const computed = table.computed.find((each) => each.name === ref.computed) as ScalarComputed;
  const value = row[computed.column] ?? computed.fallback;
  return computed.argument ? (value as number) + more : value;
}

export function relationshipOf(table: Table, name: string): Relationship | undefined {
  return table.relationships.find((each) => each.name === name);
}

/** Visible rows of a relationship or a table computed field. */
export function relatedRows(place: Place, name: string): { readonly target: Table; readonly rows: readonly Row[] } {
  const { scene, table, row, role } = place;
  const relationship = relationshipOf(table, name);
  if (relationship !== undefined) {
    const key = row[relationship.local] ?? null;
    const candidates = visibleRows(scene, role, relationship.target);
    const rows = key === null ? [] : candidates.filter((other) => same(other[relationship.remote] ?? null, key));
    return { target: tableOf(scene.world, relationship.target), rows };
  }
  const computed = table.computed.find((each) => each.name === name);
  if (computed?.result !== 'table') throw new Error(`no rows ${table.name}.${name}`);
  const key = row[computed.local] ?? null;
  const rows = visibleRows(scene, role, computed.target).filter((other) => compare(other[computed.remote] ?? null, '_gte', key) === true);
  return { target: tableOf(scene.world, computed.target), rows };
}

export function evaluate(exp: Exp, place: Place): Truth {
  switch (exp.k) {
    case 'and':
      return all(exp.items.map((item) => evaluate(item, place)));
    case 'or':
      return any(exp.items.map((item) => evaluate(item, place)));
    case 'not':
      return not(evaluate(exp.item, place));
    case 'compare':
      return compareRead(exp, place);
    case 'null':
      return (read(place, exp.ref) === null) === exp.isNull;
    case 'related': {
      const { target, rows } = relatedRows(place, exp.name);
      return rows.some((row) => evaluate(exp.item, { ...place, table: target, row }) === true);
    }
    case 'exists': {
      const table = tableOf(place.scene.world, exp.table);
      return rowsOf(place.scene.world, place.scene.data, exp.table).some((row) => evaluate(exp.item, { ...place, table, row }) === true);
    }
    case 'columns':
      return compareColumns(exp, place);
    case 'aggregate': {
      const { target, rows } = relatedRows(place, exp.relationship);
      const places = rows.map((row) => ({ ...place, table: target, row }));
      const { filter } = exp;
      const visible = filter === null ? places : places.filter((each) => evaluate(filter, each) === true);
      const values = visible.map((each) => exp.columns.map((column) => read(each, { column })));
      return compare(aggregate(exp.function, values, exp.distinct).value, exp.operator, exp.value);
    }
  }
}

function compareRead({ ref, operator, operand, cast }: Extract<Exp, { k: 'compare' }>, place: Place): Truth {
  const value = read(place, ref);
  const left = cast && isJsonb(value) ? jsonbText(value.json) : value;
  const truth = compare(left, operator, resolve(operand, place, ref));
  // In permissions, inequality treats null as a value.
  const nullable = 'computed' in ref || columnOf(place.table, ref.column).nullable;
  return place.role === null && !cast && operator === '_neq' && nullable && left === null ? true : truth;
}

function resolve(operand: Operand, place: Place, ref: Ref): Value | readonly Value[] {
  if ('value' in operand) return operand.value;
  if ('values' in operand) return operand.values;
  const text = place.scene.session[operand.session] ?? '';
  const kind = kindOf(place.table, ref);
  if (text.startsWith('{')) return text.slice(1, -1).split(',').map(Number);
  return kind === 'text' ? text : Number(text);
}

function compareColumns({ column, operator, other, root }: Extract<Exp, { k: 'columns' }>, place: Place): Truth {
  const left = place.row[column] ?? null;
  const right = (root ? place.root : place.row)[other] ?? null;
  const plain = compare(left, operator, right);
  if (operator === '_eq') return any([plain, left === null && right === null]);
  if (operator === '_neq') return any([plain, (left === null) !== (right === null)]);
  return plain;
}

export interface Access {
  readonly table: Table;
  /** Selectable columns and scalar computed fields, masked ones included. */
  readonly columns: readonly string[];
  readonly computed: readonly string[];
  readonly limit: number | null;
  readonly aggregations: boolean;
  sees(row: Row, scene: Scene): boolean;
  /** @param name of a column or scalar computed field */
  seesCell(row: Row, name: string, scene: Scene): boolean;
  /** Returns whether the cell is visible in every visible row. */
  isPlain(name: string): boolean;
}

const known = new WeakMap<World, Map<string, Access | null>>();

/** Null if the role may not select from the table. */
export function accessOf(world: World, role: string, tableName: string): Access | null {
  let ofWorld = known.get(world);
  if (ofWorld === undefined) {
    ofWorld = new Map();
    known.set(world, ofWorld);
  }
  const key = `${role} ${tableName}`;
  let access = ofWorld.get(key);
  if (access === undefined) {
    access = find(world, role, tableName);
    ofWorld.set(key, access);
  }
  return access;
}

function find(world: World, role: string, tableName: string): Access | null {
  const table = tableOf(world, tableName);
  const own = world.permissions.get(role)?.get(tableName);
  if (own !== undefined) {
    return {
      table,
      columns: own.columns,
      computed: own.computed,
      limit: own.limit,
      aggregations: own.aggregations,
      sees: (row, scene) => evaluate(own.filter, { scene, table, row, role: null, root: row }) === true,
      seesCell: (_row, name) => own.columns.includes(name) || own.computed.includes(name),
      isPlain: (name) => own.columns.includes(name) || own.computed.includes(name),
    };
  }
  const parents = (world.inherited.get(role) ?? []).map((parent) => accessOf(world, parent, tableName)).filter((parent) => parent !== null);
  if (parents.length === 0) return null;
  const limits = parents.map(({ limit }) => limit).filter((limit) => limit !== null);
  const union = (names: (parent: Access) => readonly string[]): string[] => [...new Set(parents.flatMap(names))];
  return {
    table,
    columns: union(({ columns }) => columns),
    computed: union(({ computed }) => computed),
    limit: limits.length === 0 ? null : Math.max(...limits),
    aggregations: parents.some(({ aggregations }) => aggregations),
    sees: (row, scene) => parents.some((parent) => parent.sees(row, scene)),
    seesCell: (row, name, scene) => parents.some((parent) => parent.sees(row, scene) && parent.seesCell(row, name, scene)),
    isPlain: (name) => parents.every((parent) => parent.isPlain(name)),
  };
}

/** Rows are offered if the role can read values of them or of rows that they lead to; otherwise only aggregates are. */
export function offersRows(world: World, role: string, access: Access, visited: readonly Table[] = []): boolean {
  if (access.columns.length > 0 || access.computed.length > 0) return true;
  const passed = [...visited, access.table];
  const leads = (name: string, aggregates: boolean): boolean => {
    const target = accessOf(world, role, name);
    if (target === null) return false;
    return (aggregates && target.aggregations) || (!passed.includes(target.table) && offersRows(world, role, target, passed));
  };
  return (
    access.table.relationships.some(({ kind, target }) => leads(target, kind === 'array')) ||
    access.table.computed.some((each) => each.result === 'table' && leads(each.target, false))
  );
}

/** Null also if the role's schema has neither rows nor aggregates of the table. */
export function offeredAccess(world: World, role: string, tableName: string): Access | null {
  const access = accessOf(world, role, tableName);
  return access === null || access.aggregations || offersRows(world, role, access) ? access : null;
}

/** The role may read the name, possibly masked. */
export function grants(access: Access, name: string): boolean {
  return access.columns.includes(name) || access.computed.includes(name);
}
