/** A world in a real database, tracked by a service. */
import type { BigQuery } from '../support/bigquery-emulator/index.ts';
import type { TestMariadb } from '../support/mariadb.ts';
import { runSql } from '../support/postgres.ts';
import type { TestService } from '../support/service.ts';
import type { Json, JsonObject } from '../../src/util/json.ts';
import { jsonOf } from './query.ts';
import { isInts } from './values.ts';
import { ENUM_TABLE, ENUM_VALUES } from './world.ts';
import type { Data, Database, Exp, Kind, Operand, Permission, Ref, Relationship, Table, Value, World } from './world.ts';
import type { Preset, WritePermissions, Writes } from './writes.ts';

/** Location of a world: the service's own database, a MariaDB or BigQuery that the service knows as `PLACE`, or a file. */
export interface Place {
  readonly service: TestService;
  readonly mariadb?: TestMariadb;
  readonly bigquery?: BigQuery;
  /** Creates a database file with SQL. Returns its path. */
  makeFile?(sql: string): string;
}

const MARIADB_NAME = 'world';

/** The environment variable of the service with the URL of a MariaDB database. */
export function placeVariable(mariadb: TestMariadb): Record<string, string> {
  return { PLACE: mariadb.url(MARIADB_NAME) };
}

/** The environment variables of the service with the address and key of a BigQuery. */
export function warehouseVariables({ url, serviceAccount }: BigQuery): Record<string, string> {
  return { PLACE: url, PLACE_KEY: JSON.stringify(serviceAccount) };
}

const BIGQUERY_TYPES: Partial<Record<Kind, string>> = {
  int: 'int64',
  bigint: 'int64',
  numeric: 'numeric',
  float8: 'float64',
  text: 'string',
  bool: 'bool',
};

const MARIADB_TYPES: Partial<Record<Kind, string>> = {
  int: 'integer',
  bigint: 'bigint',
  numeric: 'numeric(8,2)',
  float8: 'double',
  text: 'varchar(40) collate utf8mb4_bin',
  bool: 'boolean',
};

const SQL_TYPES: Readonly<Record<Kind, string>> = {
  int: 'integer',
  bigint: 'bigint',
  numeric: 'numeric(8,2)',
  float8: 'double precision',
  // Makes the sort order the same everywhere.
  text: 'text collate "C"',
  bool: 'boolean',
  jsonb: 'jsonb',
  ints: 'integer[]',
  enum: `text collate "C" references ${ENUM_TABLE} (value)`,
};

/** Disables JIT: compiling each of the many different statements would take far longer than running them. */
const WITHOUT_JIT = `do $$ begin execute format('alter database %I set jit = off', current_database()); end $$;`;

/** Replaces the tracked tables and the tables of the database. */
export async function setUp({ service, mariadb, bigquery, makeFile }: Place, world: World, writes: Writes = new Map()): Promise<void> {
  await service.metadata('clear_metadata', {});
  let file: string | null = null;
  if (makeFile !== undefined) file = makeFile(`${definitions(world)} ${rowsSql(world, world.data)}`);
  else if (bigquery !== undefined) {
    await bigquery.run(`drop schema if exists world cascade; create schema world; ${definitions(world)} ${rowsSql(world, world.data)}`);
  } else if (mariadb === undefined) {
    await runSql(service.databaseUrl, WITHOUT_JIT);
    await runSql(
      service.databaseUrl,
      `drop schema public cascade; create schema public; ${definitions(world)} ${rowsSql(world, world.data)}`,
    );
  } else {
    const database = `drop database if exists ${MARIADB_NAME}; create database ${MARIADB_NAME}; use ${MARIADB_NAME};`;
    await mariadb.run(`${database} ${definitions(world)} ${rowsSql(world, world.data)}`);
  }
  // The previous source still exists, and is introspected again if external SQL has changed its tables.
  await service.metadata('reload_metadata', { reload_sources: true });
  await service.metadata('replace_metadata', metadataOf(world, writes, file));
}

/** Inserts new rows into the same tables. */
export async function fill({ service, mariadb, bigquery }: Place, world: World, data: Data): Promise<void> {
  const tables = world.tables.filter(({ view }) => view === null).map(({ name }) => name);
  if (bigquery !== undefined) {
    await bigquery.run(`${tables.map((name) => `delete from world.${name} where true;`).join(' ')} ${rowsSql(world, data)}`);
  } else if (mariadb === undefined) await runSql(service.databaseUrl, `truncate ${tables.join(', ')}; ${rowsSql(world, data)}`);
  else {
    const emptied = tables.map((name) => `delete from ${name};`).join(' ');
    await mariadb.run(`use ${MARIADB_NAME}; set foreign_key_checks = 0; ${emptied} ${rowsSql(world, data)}`);
  }
}

export function definitions(world: World): string {
  const tables = world.tables.filter(({ view }) => view === null);
  const views = world.tables.flatMap(({ name, columns, view }) =>
    view === null
      ? []
      : [
          `create view ${inWorld(world, name)} as select ${columns.map((each) => each.name).join(', ')} from ${inWorld(world, view.base)} where ${view.where} is not null;`,
        ],
  );
  const keys = tables.flatMap(({ name, columns }) =>
    columns.flatMap((column) =>
      column.references === null ? [] : [`alter table ${name} add foreign key (${column.name}) references ${column.references} (id);`],
    ),
  );
  if (world.database === 'sqlite') return tables.map(strictTableSql).join('\n');
  if (world.database === 'dwh') return [...tables.map((table) => tableSql(table, 'dwh')), ...views].join('\n');
  if (world.database === 'dbb') return [...tables.map((table) => tableSql(table, 'dbb')), ...keys, ...views].join('\n');
  // The result of a function has its own collation only through its type.
  return [
    'create domain ordered_text as text collate "C";',
    `create table ${ENUM_TABLE} (value text collate "C" primary key, comment text);`,
    `insert into ${ENUM_TABLE} values ${ENUM_VALUES.map((value) => `('${value}')`).join(', ')};`,
    ...tables.map((table) => tableSql(table, 'pg')),
    ...keys,
    ...views,
    ...tables.flatMap((table) => [...functionsOf(table), ...searchOf(table)]),
  ].join('\n');
}

/** The name of a table in SQL. */
function inWorld({ database }: Pick<World, 'database'>, name: string): string {
  return database === 'dwh' ? `world.${name}` : name;
}

const TYPES: Readonly<Record<Database, Partial<Record<Kind, string>>>> = {
  pg: SQL_TYPES,
  dbc: SQL_TYPES,
  dbb: MARIADB_TYPES,
  dwh: BIGQUERY_TYPES,
  sqlite: { int: 'integer', bigint: 'integer', float8: 'real', text: 'text' },
};

function tableSql({ name, columns, primaryKey }: Table, database: Database): string {
  const types = TYPES[database];
  const printed = columns.map((column) => `${column.name} ${types[column.kind]}${column.nullable ? '' : ' not null'}`);
  if (database === 'dwh') return `create table world.${name} (${printed.join(', ')});`;
  const unique = primaryKey?.length === 1 ? [] : ['unique (id)'];
  return `create table ${name} (${[...printed, `primary key (${primaryKey?.join(', ')})`, ...unique].join(', ')});`;
}

/** SQLite accepts foreign keys only with their table. */
function strictTableSql(table: Table): string {
  const keys = table.columns.flatMap(({ name, references }) =>
    references === null ? [] : [`, foreign key (${name}) references ${references} (id)`],
  );
  return tableSql(table, 'sqlite').replace(/\);$/, `${keys.join('')}) strict;`);
}

function functionsOf({ name, computed }: Table): readonly string[] {
  return computed.map((field) => {
    const functionName = `${name}_${field.name}`;
    if (field.result === 'table') {
      return `create function ${functionName}(me ${name}) returns setof ${field.target} language sql stable as $$ select * from ${field.target} where ${field.remote} >= me.${field.local} $$;`;
    }
    const fallback = typeof field.fallback === 'string' ? `'${field.fallback}'` : field.fallback;
    const value = `${field.divides ? '10 / ' : ''}coalesce(me.${field.column}, ${fallback})`;
    const type = field.kind === 'text' ? 'ordered_text' : SQL_TYPES[field.kind];
    if (!field.argument) return `create function ${functionName}(me ${name}) returns ${type} language sql stable as $$ select ${value} $$;`;
    return `create function ${functionName}(me ${name}, more integer default 0) returns ${type} language sql stable as $$ select ${value} + more $$;`;
  });
}

function searchOf({ name, search }: Table): readonly string[] {
  if (search === null) return [];
  return [
    `create function find_${name}(low integer default 0) returns setof ${name} language sql stable as $$ select * from ${name} where coalesce(${search.column}, 0) >= low $$;`,
  ];
}

function rowsSql(world: World, data: Data): string {
  const statements =
    world.database === 'dwh' || world.database === 'sqlite'
      ? []
      : [world.database === 'dbb' ? 'set foreign_key_checks = 0;' : "set session_replication_role = 'replica';"];
  for (const { name, columns, view } of world.tables) {
    const rows = data.get(name) ?? [];
    if (view !== null || rows.length === 0) continue;
    const isWarehouse = world.database === 'dwh';
    const values = rows.map((row) => `(${columns.map(({ name: column }) => literal(row[column] ?? null, isWarehouse)).join(', ')})`);
    const named = isWarehouse ? ` (${columns.map((column) => column.name).join(', ')})` : '';
    statements.push(`insert into ${inWorld(world, name)}${named} values ${values.join(', ')};`);
  }
  return statements.join('\n');
}

function literal(value: Value, isWarehouse: boolean): string {
  if (value === null) return 'null';
  if (isInts(value)) return `'{${value.ints.join(',')}}'`;
  if (typeof value === 'object') return `'${JSON.stringify(value.json).replaceAll("'", "''")}'`;
  if (typeof value !== 'string') return String(value);
  return isWarehouse ? JSON.stringify(value) : `'${value.replaceAll("'", "''")}'`;
}

export function metadataOf(world: World, writes: Writes = new Map(), file: string | null = null): JsonObject {
  const tables = world.tables.map((table): Json => {
    const relationships = (kind: 'object' | 'array'): Json[] =>
      table.relationships.filter((each) => each.kind === kind).map((each): Json => ({ name: each.name, using: using(world, each) }));
    return {
      table: named(world, table.name),
      ...(world.database === 'dwh' ? { configuration: { custom_name: table.name } } : {}),
      object_relationships: relationships('object'),
      array_relationships: relationships('array'),
      computed_fields: table.computed.map(({ name }) => ({ name, definition: { function: `${table.name}_${name}` } })),
      select_permissions: [...world.permissions].flatMap(([role, own]): Json[] => {
        const permission = own.get(table.name);
        return permission === undefined ? [] : [{ role, permission: permissionJson(permission, world) }];
      }),
      ...writesJson(writes, table.name),
    };
  });
  return {
    version: 3,
    sources: [
      world.database === 'dwh'
        ? {
            name: 'default',
            kind: 'dwh',
            configuration: {
              service_account: { from_env: 'PLACE_KEY' },
              project_id: 'svc-test',
              datasets: ['world'],
              api_endpoint: { from_env: 'PLACE' },
            },
            tables,
          }
        : world.database === 'dbb'
          ? {
              name: 'default',
              kind: 'dbb',
              configuration: { connection_info: { connection_string: { from_env: 'PLACE' } } },
              tables,
            }
          : {
              name: 'default',
              kind: world.database,
              configuration: file === null ? { connection_info: { database_url: { from_env: 'SVC_GRAPHQL_DATABASE_URL' } } } : { file },
              tables: world.database !== 'pg' ? tables : [...tables, { table: ENUM_TABLE, is_enum: true }],
              functions: world.tables.flatMap(({ name, search }) => (search === null ? [] : [{ function: `find_${name}` }])),
            },
    ],
    inherited_roles: [...world.inherited].map(([role, parents]) => ({ role_name: role, role_set: [...parents] })),
  };
}

function using(world: World, { kind, target, local, remote, foreignKey }: Relationship): JsonObject {
  if (foreignKey === null) return { manual_configuration: { remote_table: named(world, target), column_mapping: { [local]: remote } } };
  return { foreign_key_constraint_on: kind === 'object' ? foreignKey.column : { ...foreignKey } };
}

/** The name of a table in metadata. */
function named({ database }: Pick<World, 'database'>, name: string): Json {
  return database === 'dwh' ? { dataset: 'world', name } : name;
}

export function permissionJson(permission: Permission, world: Pick<World, 'database'> = { database: 'pg' }): JsonObject {
  return {
    columns: [...permission.columns],
    filter: rule(permission.filter, world),
    computed_fields: [...permission.computed],
    allow_aggregations: permission.aggregations,
    ...(permission.limit === null ? {} : { limit: permission.limit }),
  };
}

function writesJson(writes: Writes, table: string): JsonObject {
  const of = (kind: 'insert' | 'update' | 'delete', json: (permissions: WritePermissions) => JsonObject | null): Json[] =>
    [...writes].flatMap(([role, own]): Json[] => {
      const permissions = own.get(table);
      const permission = permissions === undefined || permissions[kind] === null ? null : json(permissions);
      return permission === null ? [] : [{ role, permission }];
    });
  const set = (presets: readonly Preset[]): JsonObject =>
    Object.fromEntries(presets.map(({ column, operand: given }) => [column, operand(given)]));
  return {
    insert_permissions: of('insert', ({ insert }) =>
      insert === null ? null : { columns: [...insert.columns], check: rule(insert.check), set: set(insert.presets) },
    ),
    update_permissions: of('update', ({ update }) =>
      update === null
        ? null
        : {
            columns: [...update.columns],
            filter: rule(update.filter),
            check: update.check === null ? null : rule(update.check),
            set: set(update.presets),
          },
    ),
    delete_permissions: of('delete', (permissions) => (permissions.delete === null ? null : { filter: rule(permissions.delete.filter) })),
  };
}

const COLUMN_OPERATORS: Readonly<Record<string, string>> = {
  _eq: '_ceq',
  _neq: '_cne',
  _gt: '_cgt',
  _lt: '_clt',
  _gte: '_cgte',
  _lte: '_clte',
};

function rule(exp: Exp, world: Pick<World, 'database'> = { database: 'pg' }): JsonObject {
  const rules = (items: readonly Exp[]): JsonObject[] => items.map((item) => rule(item, world));
  switch (exp.k) {
    case 'and':
      return exp.items.length === 0 ? {} : { _and: rules(exp.items) };
    case 'or':
      return { _or: rules(exp.items) };
    case 'not':
      return { _not: rule(exp.item, world) };
    case 'null':
      return { [name(exp.ref)]: { _is_null: exp.isNull } };
    case 'compare': {
      const comparison = { [exp.operator]: operand(exp.operand) };
      return { [name(exp.ref)]: exp.cast ? { _cast: { String: comparison } } : comparison };
    }
    case 'related':
      return { [exp.name]: rule(exp.item, world) };
    case 'exists':
      return { _exists: { _table: named(world, exp.table), _where: rule(exp.item, world) } };
    case 'columns':
      return { [exp.column]: { [COLUMN_OPERATORS[exp.operator] ?? '']: exp.root ? ['$', exp.other] : [exp.other] } };
    case 'aggregate':
      throw new Error('aggregates are for requests');
  }
}

function name(ref: Ref): string {
  return 'column' in ref ? ref.column : ref.computed;
}

function operand(value: Operand): Json {
  if ('session' in value) return `X-Svc-${value.session}`;
  return 'values' in value ? value.values.map(jsonOf) : jsonOf(value.value);
}
