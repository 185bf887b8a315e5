/** Introspection from `information_schema`. */
import { stableId } from '../shared/stable-id.ts';
import {
  type Catalog,
  type CatalogColumn,
  type CatalogForeignKey,
  type CatalogKey,
  type CatalogScope,
  type CatalogTable,
  type CatalogType,
  nameKey,
  type QualifiedName,
} from '../../catalog/catalog.ts';
import { runCooperatively, type Cooperative } from '../../util/cooperative.ts';
import { baseType } from './base-type.ts';
import type { RunSqlResult } from '../../backend/connection.ts';

type Query = (text: string, values: readonly (string | null)[]) => Promise<RunSqlResult>;
type Row = readonly (string | null)[];

/** Schemas of the server and of the service. */
const SYSTEM = "('mysql', 'information_schema', 'performance_schema', 'sys', 'svc_catalog')";

/** Selects the tables of a source, without those that record migrations and seeds of projects. */
export const IS_TABLE = `table_schema not in ${SYSTEM} and table_type in ('BASE TABLE', 'SYSTEM VERSIONED', 'VIEW')
and table_name not in ('svc_migration', 'svc_seed')`;

const TABLES = `select t.table_schema, t.table_name, t.table_type, t.table_comment, e.transactions
from information_schema.tables t
left join information_schema.engines e on e.engine = t.engine
where ${IS_TABLE}`;

const COLUMNS = `select table_schema, table_name, column_name, data_type, column_type, is_nullable, column_default, extra, is_generated, collation_name,
column_comment, ordinal_position
from information_schema.columns where table_schema not in ${SYSTEM} order by table_schema, table_name, ordinal_position`;

/** Checks of tables and columns. A JSON column is a text column with a `json_valid` check. */
const CHECKS = `select constraint_schema, table_name, check_clause, constraint_name, level from information_schema.check_constraints
where constraint_schema not in ${SYSTEM} order by constraint_schema, table_name, constraint_name`;

/** Derives the kind of a constraint, because `table_constraints` is hidden from users who may only read. */
const KEYS = `select constraint_schema, table_name, constraint_name,
case when referenced_table_name is not null then 'FOREIGN KEY' when constraint_name = 'PRIMARY' then 'PRIMARY KEY' else 'UNIQUE' end,
column_name, referenced_table_schema, referenced_table_name, referenced_column_name
from information_schema.key_column_usage where constraint_schema not in ${SYSTEM}
order by constraint_schema, table_name, constraint_name, referenced_table_name is null, ordinal_position`;

/** Statements for tables, columns, checks and keys, with the columns that identify a definition. */
export const CATALOG_STATEMENTS: readonly { readonly text: string; readonly columns: readonly string[] }[] = [
  { text: TABLES, columns: ['table_schema', 'table_name', 'table_type', 'table_comment', 'transactions'] },
  {
    text: COLUMNS,
    columns: [
      ...['table_schema', 'table_name', 'column_name', 'column_type', 'is_nullable', 'column_default', 'extra', 'is_generated'],
      ...['collation_name', 'column_comment', 'ordinal_position'],
    ],
  },
  { text: CHECKS, columns: ['constraint_schema', 'table_name', 'constraint_name', 'check_clause', 'level'] },
  {
    text: KEYS,
    columns: [
      ...['constraint_schema', 'table_name', 'constraint_name', 'column_name'],
      ...['referenced_table_schema', 'referenced_table_name', 'referenced_column_name'],
    ],
  },
];

const VERSION = "select regexp_substr(version(), '^[0-9]+[.][0-9]+[.][0-9]+')";

/** @param database database of the connection; its tables have no schema */
export async function readCatalog(query: Query, database: string, scope: CatalogScope = {}): Promise<Catalog> {
  const rowsOf = async (text: string): Promise<readonly Row[]> => (await query(text, [])).rows;
  const [tables, columns, checks, keys, version] = [
    await rowsOf(TABLES),
    await rowsOf(COLUMNS),
    await rowsOf(CHECKS),
    await rowsOf(KEYS),
    await rowsOf(VERSION),
  ];
  const requested = scope.tables === undefined ? null : new Set(scope.tables.map(nameKey));
  const found = await runCooperatively(buildTables({ database, tables, columns, checks, keys }, requested));
  const [major = 0, minor = 0, patch = 0] = (version[0]?.[0] ?? '').split('.').map(Number);
  return { tables: found, functions: new Map(), version: major * 10_000 + minor * 100 + patch, unnamedSchema: database };
}

interface Found {
  readonly database: string;
  readonly tables: readonly Row[];
  readonly columns: readonly Row[];
  readonly checks: readonly Row[];
  readonly keys: readonly Row[];
}

function* buildTables(found: Found, requested: ReadonlySet<string> | null): Cooperative<ReadonlyMap<string, CatalogTable>> {
  const nameOf = (schema: string | null | undefined, name: string | null | undefined): QualifiedName => ({
    schema: schema === found.database ? '' : (schema ?? ''),
    name: name ?? '',
  });
  const ofColumns = found.checks.filter(([, , , , level]) => level === 'Column');
  const json = new Set(ofColumns.map(([schema, table, clause]) => `${nameKey(nameOf(schema, table))}\u0000${clause ?? ''}`));
  const columns = new Map<string, CatalogColumn[]>();
  for (const row of found.columns) {
    yield;
    const key = nameKey(nameOf(row[0], row[1]));
    if (requested !== null && !requested.has(key)) continue;
    // Invisible columns, which `*` omits, are not exposed.
    if ((row[7] ?? '').includes('INVISIBLE')) continue;
    const isJson = json.has(`${key}\u0000json_valid(\`${row[2] ?? ''}\`)`);
    const own = columns.get(key);
    if (own === undefined) columns.set(key, [columnOf(row, isJson)]);
    else own.push(columnOf(row, isJson));
  }
  const constraints = yield* buildConstraints(found, nameOf);
  const tables = new Map<string, CatalogTable>();
  for (const [schema, table, type, comment, transactions] of found.tables) {
    yield;
    const name = nameOf(schema, table);
    const key = nameKey(name);
    if (requested !== null && !requested.has(key)) continue;
    const isView = type === 'VIEW';
    // Writes that a permission refuses are rolled back. The engine of the tables behind a view is unknown.
    const isWritable = !isView && transactions === 'YES';
    const own = constraints.get(key);
    tables.set(key, {
      id: stableId(key),
      name,
      kind: isView ? 'view' : 'table',
      // The comment of every view is "VIEW".
      comment: isView || comment === '' ? null : (comment ?? null),
      columns: columns.get(key) ?? [],
      primaryKey: own?.primaryKey ?? null,
      uniqueConstraints: own?.unique ?? [],
      otherConstraints: own?.other ?? [],
      foreignKeys: own?.foreign ?? [],
      insertable: isWritable,
      updatable: isWritable,
      deletable: isWritable,
      ...(isView ? {} : { stored: true }),
    });
  }
  return tables;
}

function columnOf(row: Row, isJson: boolean): CatalogColumn {
  const [, , name = '', dataType, columnType, nullable, defaultText, extra, generated, collation, comment] = row;
  const isGenerated = generated === 'ALWAYS';
  const counts = (extra ?? '').includes('auto_increment');
  return {
    name: name ?? '',
    type: isJson ? baseType('json') : columnTypeOf(dataType ?? '', columnType ?? '', collation ?? null),
    nullable: nullable === 'YES',
    // The server reports the default NULL for a nullable column without a default.
    hasDefault: !isGenerated && (counts || (defaultText !== null && defaultText !== undefined && defaultText !== 'NULL')),
    generated: isGenerated,
    identity: counts ? 'by-default' : false,
    comment: comment === '' ? null : (comment ?? null),
    // No other property of a column survives DDL on its neighbours. A renamed column is a new one.
    position: stableId(name ?? ''),
  };
}

function columnTypeOf(dataType: string, columnType: string, collation: string | null): CatalogType {
  if (columnType === 'tinyint(1)' || columnType === 'bit(1)') return baseType('boolean');
  const plain = baseType(/\bunsigned\b/.test(columnType) ? `${dataType} unsigned` : dataType);
  const fraction = fractionOf(dataType, columnType);
  const type = fraction === null ? plain : { ...plain, fraction };
  const members = dataType === 'enum' || dataType === 'set' ? { members: membersOf(columnType) } : {};
  return collation === null
    ? type
    : { ...type, ...members, collation: { id: stableId(collation), deterministic: collation.endsWith('_bin'), name: collation } };
}

/** Returns the last number of `decimal(5,2)` or `time(3)`; `null` for types that do not round. */
function fractionOf(dataType: string, columnType: string): number | null {
  if (!['decimal', 'time', 'datetime', 'timestamp'].includes(dataType)) return null;
  return Number(/^\w+\((?:\d+,)?(\d+)\)/.exec(columnType)?.[1] ?? 0);
}

/** Parses `enum('a','it''s')`. */
function membersOf(columnType: string): readonly string[] {
  return [...columnType.matchAll(/'((?:[^']|'')*)'/gu)].map(([, member = '']) => member.replaceAll("''", "'"));
}

interface Constraints {
  primaryKey: CatalogKey | null;
  readonly unique: CatalogKey[];
  readonly foreign: CatalogForeignKey[];
  readonly other: string[];
}

type NameOf = (schema: string | null | undefined, name: string | null | undefined) => QualifiedName;

/** Expects the rows of a constraint to follow each other. */
function* buildConstraints(found: Found, nameOf: NameOf): Cooperative<ReadonlyMap<string, Constraints>> {
  const tables = new Map<string, Constraints>();
  const groups = new Map<string, Row[]>();
  for (const row of found.keys) {
    yield;
    const key = `${row[0] ?? ''}\u0000${row[1] ?? ''}\u0000${row[3] ?? ''}\u0000${row[2] ?? ''}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [row]);
    else group.push(row);
  }
  const constraintsOf = (schema: string | null | undefined, table: string | null | undefined): Constraints => {
    const key = nameKey(nameOf(schema, table));
    const own = tables.get(key) ?? { primaryKey: null, unique: [], foreign: [], other: [] };
    tables.set(key, own);
    return own;
  };
  for (const [schema, table, , name] of found.checks) {
    yield;
    constraintsOf(schema, table).other.push(name ?? '');
  }
  for (const rows of groups.values()) {
    yield;
    const [first] = rows;
    if (first === undefined) continue;
    const own = constraintsOf(first[0], first[1]);
    const name = first[2] ?? '';
    const columns = rows.map((row) => row[4] ?? '');
    if (first[3] === 'PRIMARY KEY') own.primaryKey = { name, columns };
    else if (first[3] === 'UNIQUE') own.unique.push({ name, columns });
    else own.foreign.push({ name, columns, target: nameOf(first[5], first[6]), targetColumns: rows.map((row) => row[7] ?? '') });
  }
  return tables;
}
