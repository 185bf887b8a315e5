/**
 * Dumps rows of MariaDB as insert statements. They can be read with any character set and time zone of a session, and by scanners that do
 * not know backslash escapes.
 */
import type { DumpContext } from '../../../backend/migration-dialect.ts';
import { dialect } from '../compile/dialect.ts';
import { textLiteral } from './text-literal.ts';

interface Column {
  readonly name: string;
  readonly type: string;
  readonly key: boolean;
}

const named = dialect.identifier;

/** Quotes a text; one with control characters, which files and editors do not preserve, is written as bytes. */
const text = (value: string): string => {
  const utf8 = `convert(${value} using utf8mb4)`;
  const quoted = `concat(_utf8mb4 0x27, replace(replace(${utf8}, _utf8mb4 0x5c, _utf8mb4 0x5c5c), _utf8mb4 0x27, _utf8mb4 0x2727), _utf8mb4 0x27)`;
  return `if(${utf8} regexp '[\\\\x00-\\\\x08\\\\x0b-\\\\x1f]', concat('_utf8mb4 0x', hex(${utf8})), ${quoted})`;
};
const characters = (value: string): string => `cast(${value} as char)`;
const bytes = (value: string): string => `if(length(${value}) = 0, _utf8mb4 0x2727, concat('0x', hex(${value})))`;

/** Column types, and the expression that prints a value of them as an SQL literal. */
const LITERALS: readonly (readonly [readonly string[], (value: string) => string])[] = [
  [['char', 'varchar', 'tinytext', 'text', 'mediumtext', 'longtext', 'enum', 'set'], text],
  [['tinyint', 'smallint', 'mediumint', 'int', 'bigint', 'decimal', 'year'], characters],
  // Without the addition, floats are printed with fewer digits than they have.
  [['float', 'double'], (value) => characters(`${value} + 0e0`)],
  [['bit'], (value) => characters(`${value} + 0`)],
  [['binary', 'varbinary', 'tinyblob', 'blob', 'mediumblob', 'longblob'], bytes],
  [['date', 'datetime', 'timestamp', 'time', 'uuid', 'inet4', 'inet6'], (value) => `concat('''', ${characters(value)}, '''')`],
  [
    ['geometry', 'point', 'linestring', 'polygon', 'multipoint', 'multilinestring', 'multipolygon', 'geometrycollection'],
    (value) => `concat('st_geomfromwkb(0x', hex(st_aswkb(${value})), ', ', st_srid(${value}), ')')`,
  ],
];

/**
 * Returns the rows of a table as insert statements.
 * @param name name of a table, with its database if that is not the source's
 * @param upsert overwrites existing rows with the same key
 */
export async function dumpRows({ rows: rowsOf, failure, source }: DumpContext, name: string, upsert: boolean): Promise<string> {
  const nameSql = `cast(${textLiteral(name)} as binary)`;
  const [found] = await rowsOf(
    `select table_schema, table_name, table_schema = database() from information_schema.tables where table_type <> 'VIEW' and ((table_schema = database() and cast(table_name as binary) = ${nameSql}) or cast(concat(table_schema, '.', table_name) as binary) = ${nameSql}) order by 3 desc limit 1`,
  );
  if (found === undefined) throw failure('not-exists', `there is no table "${name}" in ${source}`);
  const [schema = '', table = '', own] = found;
  const columns = (
    await rowsOf(
      `select column_name, data_type, column_key from information_schema.columns where table_schema = ${textLiteral(schema)} and table_name = ${textLiteral(table)} and is_generated = 'NEVER' order by ordinal_position`,
    )
  ).map(([column = '', type = '', key]): Column => ({ name: column, type, key: key === 'PRI' }));
  const keys = columns.filter(({ key }) => key).map((column) => named(column.name));
  if (upsert && keys.length === 0) throw failure('seed', `the table ${name} has no primary key: its rows cannot be upserted`);
  const others = columns.filter(({ key }) => !key).map((column) => named(column.name));
  const written = (others.length === 0 ? keys.slice(0, 1) : others).map((column) => `${column} = values(${column})`);
  const tail = `)${upsert ? ` on duplicate key update ${written.join(', ')}` : ''};`;
  const target = own === '1' ? named(table) : `${named(schema)}.${named(table)}`;
  const head = `insert into ${target} (${columns.map((column) => named(column.name)).join(', ')}) values (`;
  const literal = (column: Column): string => {
    const [, write] = LITERALS.find(([types]) => types.includes(column.type.toLowerCase())) ?? [];
    if (write !== undefined) return write(named(column.name));
    const which = `the column ${column.name} of the type ${column.type}`;
    throw failure('not-supported', `seeds cannot contain ${which}: table ${name}`);
  };
  const values = columns.map((column) => `if(${named(column.name)} is null, 'null', ${literal(column)})`);
  const order = keys.length === 0 ? '' : ` order by ${keys.join(', ')}`;
  const parts = [textLiteral(head), values.length === 0 ? `''` : values.join(`, ', ', `), textLiteral(tail)].join(', ');
  const statement = `select concat(${parts}) from ${named(schema)}.${named(table)}${order}`;
  return (await rowsOf(statement))
    .map(([row = 'NULL']) => {
      // The server returns null for rows larger than a packet.
      if (row === 'NULL') throw failure('seed', `a row of the table ${name} exceeds the maximum size of a statement`);
      return `${row}\n`;
    })
    .join('');
}
