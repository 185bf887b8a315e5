/** A random world: tables, rows, and the permissions of five roles and of roles that inherit from them. */
import type { Choices } from './choices.ts';
import { makeExp } from './make-condition.ts';
import { someValue } from './values.ts';
import {
  type Column,
  type Computed,
  COMPARABLE,
  type Data,
  type Database,
  type Kind,
  NUMERIC,
  type Permission,
  type Relationship,
  type Row,
  type Table,
  TRUE,
  type Value,
  type World,
} from './world.ts';

const KINDS: readonly Kind[] = [
  'int',
  'text',
  'bool',
  'numeric',
  'float8',
  'jsonb',
  'bigint',
  'text',
  'int',
  'ints',
  'enum',
  'ints',
  'enum',
];
export const ROLES: readonly string[] = ['r0', 'r1', 'r2', 'r3', 'r4'];
const INHERITED: ReadonlyMap<string, readonly string[]> = new Map([
  ['i0', ['r0', 'r1']],
  ['i1', ['r1', 'r2', 'r3']],
  ['i2', ['i0', 'r4']],
  ['i3', ['i0', 'i1']],
]);
export const ALL_ROLES: readonly string[] = [...ROLES, ...INHERITED.keys()];

/** The subset for MariaDB: its JSON has no equality, and it has neither arrays nor enum tables here. */
const KINDS_OF: Readonly<Record<Database, readonly Kind[]>> = {
  pg: KINDS,
  // MariaDB has no enum tables.
  dbc: KINDS.filter((kind) => kind !== 'enum'),
  dbb: ['int', 'text', 'bool', 'numeric', 'float8', 'bigint', 'text', 'int'],
  dwh: ['int', 'text', 'bool', 'numeric', 'float8', 'bigint', 'text', 'int'],
  sqlite: ['int', 'text', 'float8', 'bigint', 'text', 'int'],
};
const WITHOUT_SEARCH: ReadonlySet<Database> = new Set(['dbb', 'dwh', 'sqlite']);

export function makeWorld(choices: Choices, tableCount: number, database: Database = 'pg'): World {
  const tables = makeTables(choices, tableCount, database);
  const data = makeData(choices, tables);
  const world: World = { database, tables, data, permissions: new Map(), inherited: INHERITED };
  const permissions = new Map<string, Map<string, Permission>>();
  // An inherited role may have a permission of its own, which replaces the combined one.
  for (const role of [...ROLES, 'i0', 'i2']) {
    const own = new Map<string, Permission>();
    for (const table of tables) {
      if (choices.chance(ROLES.includes(role) ? 85 : 10)) own.set(table.name, makePermission(choices, world, table));
    }
    permissions.set(role, own);
  }
  return { ...world, permissions };
}

function makeTables(choices: Choices, count: number, database: Database): Table[] {
  const names = Array.from({ length: count }, (_, i) => `t${i}`);
  const columns = new Map<string, Column[]>();
  for (const name of names) {
    const made: Column[] = [{ name: 'id', kind: 'int', nullable: false, references: null }];
    const references = choices.int(3);
    for (let i = 0; i < references; i++) {
      made.push({ name: `ref${i}`, kind: 'int', nullable: !choices.chance(25), references: choices.pick(names) });
    }
    const plain = 3 + choices.int(4);
    for (let i = 0; i < plain; i++) {
      made.push({ name: `c${i}`, kind: choices.pick(KINDS_OF[database]), nullable: !choices.chance(30), references: null });
    }
    columns.set(name, made);
  }
  const views = names.slice(0, 2).flatMap((base, i) => {
    const own = columns.get(base) ?? [];
    const shown = own.filter(({ name }) => name === 'id' || choices.chance(70));
    const made = shown.map(
      (column) => ({ ...column, kind: column.kind === 'enum' ? 'text' : column.kind, nullable: true, references: null }) as const,
    );
    return [{ name: `v${i}`, base, where: choices.pick(made).name, columns: made }];
  });
  const tables = names.map((name): Table => {
    const own = columns.get(name) ?? [];
    const further = own.find((column) => column.kind === 'int' && !column.nullable && column.name.startsWith('c'));
    const primaryKey = further !== undefined && choices.chance(40) ? ['id', further.name] : ['id'];
    return { name, columns: own, primaryKey, view: null, relationships: [], computed: [], search: null };
  });
  // SQLite offers tables only.
  for (const { name, base, where, columns: shown } of database === 'sqlite' ? [] : views) {
    tables.push({ name, columns: shown, primaryKey: null, view: { base, where }, relationships: [], computed: [], search: null });
  }
  return tables.map((table) => ({
    ...table,
    // BigQuery does not enforce keys, and finds no rows by key.
    primaryKey: database === 'dwh' ? null : table.primaryKey,
    relationships: makeRelationships(choices, tables, table).map((each) => (database === 'dwh' ? { ...each, foreignKey: null } : each)),
    // MariaDB's functions are not offered.
    computed: table.view === null && database === 'pg' ? makeComputed(choices, tables, table) : [],
    search:
      table.view === null && !WITHOUT_SEARCH.has(database)
        ? { column: choices.pick(table.columns.filter(({ kind }) => kind === 'int')).name }
        : null,
  }));
}

function makeRelationships(choices: Choices, tables: readonly Table[], table: Table): Relationship[] {
  const made: Relationship[] = [];
  for (const column of table.columns) {
    if (column.references === null) continue;
    const foreignKey = choices.chance(75) ? { table: table.name, column: column.name } : null;
    made.push({ name: `to_${column.name}`, kind: 'object', target: column.references, local: column.name, remote: 'id', foreignKey });
  }
  for (const other of tables) {
    for (const column of other.columns) {
      if (column.references !== table.name) continue;
      const foreignKey = table.primaryKey?.length === 1 && choices.chance(75) ? { table: other.name, column: column.name } : null;
      made.push({
        name: `from_${other.name}_${column.name}`,
        kind: 'array',
        target: other.name,
        local: 'id',
        remote: column.name,
        foreignKey,
      });
    }
  }
  const ints = table.columns.filter(({ kind }) => kind === 'int');
  const target = choices.pick(tables);
  const remotes = target.columns.filter(({ kind }) => kind === 'int');
  made.push({
    name: 'alike',
    kind: 'array',
    target: target.name,
    local: choices.pick(ints).name,
    remote: choices.pick(remotes).name,
    foreignKey: null,
  });
  if (choices.chance(50)) {
    // The columns of a view are no key for the database, yet there is one row at most.
    const one = choices.pick(tables).name;
    made.push({ name: 'one', kind: 'object', target: one, local: choices.pick(ints).name, remote: 'id', foreignKey: null });
  }
  return made;
}

function makeComputed(choices: Choices, tables: readonly Table[], table: Table): Computed[] {
  const made: Computed[] = [];
  const simple = table.columns.filter(({ kind }) => kind === 'int' || kind === 'text');
  for (let i = 0; i < 2; i++) {
    const column = choices.pick(simple);
    const numeric = NUMERIC.has(column.kind);
    made.push({
      result: 'scalar',
      name: `f${i}`,
      kind: column.kind,
      argument: i === 1 && numeric && choices.chance(50),
      column: column.name,
      fallback: numeric ? 2 : 'none',
      divides: false,
    });
  }
  const divisor = choices.pick(table.columns.filter(({ kind }) => kind === 'int')).name;
  made.push({ result: 'scalar', name: 'ratio', kind: 'int', argument: false, column: divisor, fallback: 2, divides: true });
  const targets = tables.filter((each) => each.view === null && each.columns.some((column) => column.kind === 'int'));
  const target = choices.pick(targets);
  const remote = choices.pick(target.columns.filter(({ kind }) => kind === 'int')).name;
  const local = choices.pick(table.columns.filter(({ kind }) => kind === 'int')).name;
  made.push({ result: 'table', name: 'rows', target: target.name, local, remote });
  return made;
}

function makeData(choices: Choices, tables: readonly Table[]): Data {
  const data = new Map<string, Row[]>();
  const counts = new Map(tables.map(({ name }) => [name, choices.int(9)]));
  for (const table of tables) {
    if (table.view !== null) continue;
    data.set(
      table.name,
      Array.from({ length: counts.get(table.name) ?? 0 }, (_, i) => makeRow(choices, table, i + 1, (name) => counts.get(name) ?? 0)),
    );
  }
  // A non-null reference to an empty table: then there is no row either.
  for (let again = true; again; ) {
    again = false;
    for (const table of tables) {
      const rows = data.get(table.name) ?? [];
      const valid = rows.filter((row) =>
        table.columns.every(
          ({ name, references }) =>
            references === null || row[name] === null || data.get(references)?.some((other) => other['id'] === row[name]),
        ),
      );
      if (table.view !== null || valid.length === rows.length) continue;
      data.set(table.name, valid);
      again = true;
    }
  }
  return data;
}

/** @param idsOf the highest `id` of a table */
export function makeRow(choices: Choices, table: Table, id: number, idsOf: (table: string) => number): Row {
  const row: Record<string, Value> = {};
  for (const column of table.columns) row[column.name] = column.name === 'id' ? id : someCell(choices, column, idsOf);
  return row;
}

export function someCell(choices: Choices, column: Column, idsOf: (table: string) => number): Value {
  if (column.nullable && choices.chance(20)) return null;
  if (column.references === null) return someValue(choices, column.kind);
  const ids = idsOf(column.references);
  return ids === 0 && column.nullable ? null : 1 + choices.int(Math.max(ids, 1));
}

function makePermission(choices: Choices, world: World, table: Table): Permission {
  const columns = table.columns.filter(({ name }) => choices.chance(name === 'id' ? 90 : 65)).map(({ name }) => name);
  return {
    columns,
    computed: table.computed.filter(({ result }) => result === 'scalar' && choices.chance(50)).map(({ name }) => name),
    filter: choices.chance(80) ? makeExp(choices, { world, table, access: null, root: table, depth: 2 }) : TRUE,
    limit: choices.chance(20) ? choices.int(6) : null,
    aggregations: choices.chance(70),
  };
}

/** Columns for min and max, or for sum and similar aggregates. */
export function operands(table: Table, columns: readonly string[], numeric: boolean): readonly string[] {
  const kinds = numeric ? NUMERIC : COMPARABLE;
  return table.columns.filter(({ name, kind }) => columns.includes(name) && kinds.has(kind)).map(({ name }) => name);
}
