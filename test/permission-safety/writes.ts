/** Write permissions of roles, and random mutations. */
import type { JsonObject } from '../../src/util/json.ts';
import type { Choices } from './choices.ts';
import { makeExp } from './make-condition.ts';
import { ROLES, someCell } from './make-world.ts';
import { isJsonb } from './values.ts';
import { jsonOf, Printer, type Request } from './query.ts';
import { type Access, accessOf } from './seen.ts';
import {
  type Column,
  columnOf,
  type Data,
  type Exp,
  type Operand,
  type Row,
  type Table,
  TRUE,
  tableOf,
  type Value,
  type World,
} from './world.ts';

export interface Preset {
  readonly column: string;
  readonly operand: Extract<Operand, { readonly value: Value } | { readonly session: string }>;
}

export interface WritePermissions {
  readonly insert: { readonly columns: readonly string[]; readonly check: Exp; readonly presets: readonly Preset[] } | null;
  readonly update: {
    readonly columns: readonly string[];
    readonly filter: Exp;
    readonly check: Exp | null;
    readonly presets: readonly Preset[];
  } | null;
  readonly delete: { readonly filter: Exp } | null;
}

/** Keyed by role, then by table. */
export type Writes = ReadonlyMap<string, ReadonlyMap<string, WritePermissions>>;

export type Mutation =
  | { readonly k: 'insert'; readonly table: string; readonly rows: readonly Row[]; readonly conflict: Conflict | null }
  | { readonly k: 'update'; readonly table: string; readonly where: Where; readonly set: Row; readonly inc: Row }
  | { readonly k: 'delete'; readonly table: string; readonly where: Where };

export interface Conflict {
  readonly update: readonly string[];
  readonly where: Exp | null;
}

export type Where = { readonly exp: Exp } | { readonly key: Row };

export function makeWrites(choices: Choices, world: World): Writes {
  return new Map(
    ROLES.map((role) => [
      role,
      new Map(world.tables.filter(({ view }) => view === null).map((table) => [table.name, makePermissions(choices, world, table)])),
    ]),
  );
}

function makePermissions(choices: Choices, world: World, table: Table): WritePermissions {
  const condition = (share: number): Exp =>
    choices.chance(share) ? withoutViews(world, makeExp(choices, { world, table, access: null, root: table, depth: 2 })) : TRUE;
  const columns = (share: number): readonly string[] =>
    table.columns.filter(({ name }) => choices.chance(table.primaryKey?.includes(name) === true ? 95 : share)).map(({ name }) => name);
  const presets = (): readonly Preset[] =>
    table.columns
      .filter(({ name, references }) => name !== 'id' && references === null && choices.chance(12))
      .map((column) => ({ column: column.name, operand: presetOf(choices, column) }));
  return {
    insert: choices.chance(85) ? { columns: columns(85), check: condition(60), presets: presets() } : null,
    update: choices.chance(85)
      ? { columns: columns(70), filter: condition(50), check: choices.chance(25) ? null : condition(60), presets: presets() }
      : null,
    delete: choices.chance(75) ? { filter: condition(60) } : null,
  };
}

/** MariaDB rejects the check of an insert that reads a view. */
function withoutViews(world: World, exp: Exp): Exp {
  return world.database === 'dbb' && readsView(world, exp) ? TRUE : exp;
}

function readsView(world: World, exp: Exp): boolean {
  const text = JSON.stringify(exp);
  const views = world.tables.filter(({ view }) => view !== null).map(({ name }) => name);
  const over = world.tables.flatMap(({ relationships }) => relationships).filter(({ target }) => views.includes(target));
  return views.some((name) => text.includes(`"table":"${name}"`)) || over.some(({ name }) => text.includes(`"name":"${name}"`));
}

function presetOf(choices: Choices, column: Column): Preset['operand'] {
  if (column.kind === 'text' && choices.chance(50)) return { session: 'name' };
  if (column.kind === 'int' && choices.chance(50)) return { session: 'user-id' };
  return { value: writtenCell(choices, { ...column, nullable: false }, () => 0) };
}

/** Requests cannot express a JSON null. */
function writtenCell(choices: Choices, column: Column, idsOf: (table: string) => number): Value {
  const value = someCell(choices, column, idsOf);
  return isJsonb(value) && value.json === null ? { json: {} } : value;
}

/** Null if the role may write nothing. @param data the current data */
export function makeMutation(choices: Choices, world: World, writes: Writes, role: string, data: Data): Mutation | null {
  const own = [...(writes.get(role) ?? [])].filter(([, each]) => each.insert !== null || each.update !== null || each.delete !== null);
  if (own.length === 0) return null;
  const [name, permissions] = choices.pick(own);
  const table = tableOf(world, name);
  const access = accessOf(world, role, name);
  const highest = Math.max(0, ...(data.get(name) ?? []).map((row) => row['id'] as number));
  const idsOf = (of: string): number => Math.max(0, ...(data.get(of) ?? []).map((row) => row['id'] as number));
  const kind = choices.int(10);
  if (permissions.insert !== null && (kind < 4 || (permissions.update === null && permissions.delete === null))) {
    const { columns, presets } = permissions.insert;
    const given = columns.filter((column) => !presets.some((preset) => preset.column === column));
    const { update } = permissions;
    const isUpsert = update !== null && access !== null && choices.chance(50);
    const row = (i: number): Row => {
      const id = isUpsert ? 1 + choices.int(highest + 1) : highest + 1 + i - (choices.chance(6) ? 1 : 0);
      return rowOf(
        given.filter((column) => column === 'id' || choices.chance(92)),
        (column) => (column === 'id' ? id : writtenCell(choices, columnOf(table, column), idsOf)),
      );
    };
    if (!isUpsert) return { k: 'insert', table: name, rows: Array.from({ length: 1 + choices.int(3) }, (_, i) => row(i)), conflict: null };
    const mayUpdate = update.columns.filter((column) => !update.presets.some((preset) => preset.column === column));
    const conflict = {
      update: choices.some(
        mayUpdate.filter((column) => column !== 'id'),
        60,
      ),
      where: choices.chance(30) ? makeWhere(choices, world, role, access) : null,
    };
    return { k: 'insert', table: name, rows: [row(0)], conflict };
  }
  const exp = (): Where => ({ exp: access === null || choices.chance(20) ? TRUE : makeWhere(choices, world, role, access) });
  const isKeyed = access !== null && table.primaryKey?.every((column) => access.columns.includes(column)) === true;
  const key = (): Where => {
    const rows = data.get(name) ?? [];
    const some = rows.length === 0 || choices.chance(15) ? null : choices.pick(rows);
    return { key: rowOf(table.primaryKey ?? [], (column) => some?.[column] ?? choices.int(9)) };
  };
  const where = (): Where => (isKeyed && choices.chance(50) ? key() : exp());
  if (permissions.update !== null && (kind < 8 || permissions.delete === null)) {
    const { columns, presets } = permissions.update;
    const given = columns.filter(
      (column) => !presets.some((preset) => preset.column === column) && (column !== 'id' || choices.chance(15)),
    );
    const chosen = choices.some(given, 50);
    const counted = chosen.filter((column) => columnOf(table, column).kind === 'int' && choices.chance(25));
    const set = rowOf(
      chosen.filter((column) => !counted.includes(column)),
      (column) => (column === 'id' ? 1 + choices.int(highest + 2) : writtenCell(choices, columnOf(table, column), idsOf)),
    );
    if (chosen.length === 0) return null;
    return { k: 'update', table: name, where: where(), set, inc: rowOf(counted, () => choices.int(3)) };
  }
  return permissions.delete === null ? null : { k: 'delete', table: name, where: where() };
}

function makeWhere(choices: Choices, world: World, role: string, of: Access): Exp {
  return makeExp(choices, { world, table: of.table, access: { role, of }, root: of.table, depth: 2 });
}

function rowOf(columns: readonly string[], value: (column: string) => Value): Row {
  return Object.fromEntries(columns.map((column) => [column, value(column)]));
}

/** The returned columns. */
export function returnedColumns(world: World, role: string, table: string): readonly string[] {
  return accessOf(world, role, table)?.columns ?? [];
}

/** One root field per mutation, `m0`, `m1`, … */
export function printMutations(world: World, role: string, mutations: readonly Mutation[], asVariable: () => boolean): Request {
  const printer = new Printer(world, asVariable);
  const fields = mutations.map((mutation, i) => `m${i}: ${printMutation(printer, world, role, mutation)}`).join(' ');
  const declared = [...printer.declarations].map(([name, type]) => `$${name}: ${type}`);
  return { query: `mutation${declared.length === 0 ? '' : `(${declared.join(', ')})`} { ${fields} }`, variables: printer.values };
}

function printMutation(printer: Printer, world: World, role: string, mutation: Mutation): string {
  const table = tableOf(world, mutation.table);
  const columns = returnedColumns(world, role, table.name);
  const response = `{ affected_rows${columns.length === 0 ? '' : ` returning { ${columns.join(' ')} }`} }`;
  const object = (row: Row): string =>
    `{${Object.entries(row)
      .map(([column, value]) => `${column}: ${printer.value(value, columnOf(table, column).kind)}`)
      .join(', ')}}`;
  if (mutation.k === 'insert') {
    const rows = printer.asVariable()
      ? printer.variable(mutation.rows.map(jsonRow), `[${table.name}_insert_input!]!`)
      : `[${mutation.rows.map(object).join(', ')}]`;
    return `insert_${table.name}(objects: ${rows}${conflictText(printer, world, table, mutation.conflict)}) ${response}`;
  }
  const byKey = 'key' in mutation.where;
  const changes =
    mutation.k === 'delete'
      ? []
      : [
          ...(Object.keys(mutation.set).length === 0 ? [] : [`_set: ${object(mutation.set)}`]),
          ...(Object.keys(mutation.inc).length === 0 ? [] : [`_inc: ${object(mutation.inc)}`]),
        ];
  if (!byKey) {
    const { exp } = mutation.where as { readonly exp: Exp };
    return `${mutation.k}_${table.name}(${[`where: ${printer.exp(table, exp)}`, ...changes].join(', ')}) ${response}`;
  }
  const { key } = mutation.where as { readonly key: Row };
  const keyed = Object.entries(key).map(([column, value]) => `${column}: ${printer.value(value, 'int', 'Int!')}`);
  const named = mutation.k === 'update' ? [`pk_columns: {${keyed.join(', ')}}`] : keyed;
  return `${mutation.k}_${table.name}_by_pk(${[...named, ...changes].join(', ')}) { ${columns.join(' ')} }`;
}

function conflictText(printer: Printer, world: World, table: Table, conflict: Conflict | null): string {
  if (conflict === null) return '';
  const constraint = world.database === 'dbb' ? 'PRIMARY' : `${table.name}_pkey`;
  const where = conflict.where === null ? '' : `, where: ${printer.exp(table, conflict.where)}`;
  return `, on_conflict: {constraint: ${constraint}, update_columns: [${conflict.update.join(', ')}]${where}}`;
}

function jsonRow(row: Row): JsonObject {
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [column, jsonOf(value)]));
}
