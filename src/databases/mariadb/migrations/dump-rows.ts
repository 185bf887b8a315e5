/**
 * Rows of MariaDB as statements that insert them. They can be read under any character set and time zone of a session like those of the
 * service, and a scanner that knows nothing of backslashes finds the same ends of texts in them.
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

/** A text in quotes; with characters that files and editors do not keep it is written by its bytes. */
const text = (value: string): string => {
  const utf8 = `convert(${value} using utf8mb4)`;
  const quoted = `concat(_utf8mb4 0x27, replace(replace(${utf8}, _utf8mb4 0x5c, _utf8mb4 0x5c5c), _utf8mb4 0x27, _utf8mb4 0x2727), _utf8mb4 0x27)`;
  return `if(${utf8} regexp '[\\\\x00-\\\\x08\\\\x0b-\\\\x1f]', concat('_utf8mb4 0x', hex(${utf8})), ${quoted})`;
};
const characters = (value: string): string => `cast(${value} as char)`;
const bytes = (value: string): string => `if(length(${value}) = 0, _utf8mb4 0x2727, concat('0x', hex(${value})))`;

/** By the type of the column, the expression whose text is its value in SQL. */
const LITERALS: readonly (readonly [readonly string[], (value: string) => string])[] = [
  [['char', 'varchar', 'tinytext', 'text', 'mediumtext', 'longtext', 'enum', 'set'], text],
  [['tinyint', 'smallint', 'mediumint', 'int', 'bigint', 'decimal', 'year'], characters],
  // As a text it has fewer digits than it is known by.
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
 * Returns the rows of a table as statements that insert them.
 * @param name of a table, with the database if it is another one than the source's
 * @param upsert whether existing rows with the same key are overwritten
 */
export async function dumpRows({ rows: rowsOf, failure, source }: DumpContext, name: string, upsert: boolean): Promise<string> {
  const wanted = `cast(${textLiteral(name)} as binary)`;
  const [found] = await rowsOf(
    `select table_schema, table_name, table_schema = database() from information_schema.tables where table_type <> 'VIEW' and ((table_schema = database() and cast(table_name as binary) = ${wanted}) or cast(concat(table_schema, '.', table_name) as binary) = ${wanted}) order by 3 desc limit 1`,
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
  const shown = own === '1' ? named(table) : `${named(schema)}.${named(table)}`;
  const head = `insert into ${shown} (${columns.map((column) => named(column.name)).join(', ')}) values (`;
  const literal = (column: Column): string => {
    const [, write] = LITERALS.find(([types]) => types.includes(column.type.toLowerCase())) ?? [];
    if (write !== undefined) return write(named(column.name));
    const which = `the column ${column.name} of the type ${column.type}`;
    throw failure('not-supported', `rows with ${which} are not written as seeds: table ${name}`);
  };
  const values = columns.map((column) => `if(${named(column.name)} is null, 'null', ${literal(column)})`);
  const order = keys.length === 0 ? '' : ` order by ${keys.join(', ')}`;
  const parts = [textLiteral(head), values.length === 0 ? `''` : values.join(`, ', ', `), textLiteral(tail)].join(', ');
  const statement = `select concat(${parts}) from ${named(schema)}.${named(table)}${order}`;
  return (await rowsOf(statement))
    .map(([row = 'NULL']) => {
      // The server leaves out what has more bytes than a packet.
      if (row === 'NULL') throw failure('seed', `a row of the table ${name} is larger than a statement may be`);
      return `${row}\n`;
    })
    .join('');
}
