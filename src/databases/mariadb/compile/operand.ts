/** Values in statements, each a parameter whose text is cast to the type that it is compared with. */
import type { CatalogType } from '../../../catalog/catalog.ts';
import type { Operand, Value } from '../../../ir/value.ts';
import { identifier, parameter, type Sql, sql } from '../../../sql/fragment.ts';
import { encoder } from '../coerce/encode.ts';
import { familyOf } from '../families.ts';
import { BIGINT, TEXT } from '../base-type.ts';
import { collatedSql } from './collation.ts';
import type { Context } from './context.ts';

/** Compiles a value; a list is a JSON array of texts. */
export function operandSql(operand: Operand, perRow?: number): Sql {
  const { value, type, list } = operand;
  if (value.kind === 'literal' && value.json === null) return sql`null`;
  const marker = parameterSql(operand, perRow);
  return list || type.array ? marker : castSql(type, marker);
}

/** Compiles a number of rows; null counts as 0. */
export function countSql(value: Value): Sql {
  return sql`coalesce(${operandSql({ value, type: BIGINT, list: false })}, 0)`;
}

/** Compiles an `offset`, which accepts only a bare parameter. */
export function offsetSql(value: Value): Sql {
  const operand = { value, type: BIGINT, list: false };
  const encode = encoder(operand);
  return parameter({ operand, key: '', encode: (json) => encode(json) ?? '0' });
}

export function textSql(value: Value): Sql {
  return operandSql({ value, type: TEXT, list: false });
}

/** Compiles a list to a `from` item with the columns `v` and, starting at 1, `i`. */
export function listItem(operand: Operand, alias: Sql): Sql {
  const columns = sql`\`i\` for ordinality, \`v\` ${listType(operand.type)} path '$'`;
  return sql`json_table(${parameterSql(operand)}, '$[*]' columns (${columns})) as ${alias}`;
}

/** Returns an item of such a list as its type; null for a text that the column's character set cannot represent. */
export function listValue(type: CatalogType, alias: Sql): Sql {
  const value = sql`${alias}.\`v\``;
  if (hasOtherCharset(type)) return sql`case when ${isRepresentable(type, value)} then ${collatedSql(value, type)} end`;
  return familyOf(type).kind === 'bytes' ? sql`from_base64(${value})` : value;
}

/** Compiles a list to a select of the column `v`. */
export function listSql(context: Context, operand: Operand): Sql {
  const { type } = operand;
  const alias = context.alias();
  const item = listItem(operand, alias);
  if (!hasOtherCharset(type)) return sql`select ${listValue(type, alias)} as \`v\` from ${item}`;
  const value = sql`${alias}.\`v\``;
  return sql`select ${collatedSql(value, type)} as \`v\` from ${item} where ${value} is null or ${isRepresentable(type, value)}`;
}

/** Beside a Unicode value, the server ignores the collation of a column with another character set, but not with its own. */
function hasOtherCharset({ collation }: CatalogType): boolean {
  return collation?.name?.startsWith('utf8mb4_') === false;
}

/** Checks that a character set can represent a text: the server replaces other characters by question marks. */
function isRepresentable(type: CatalogType, text: Sql): Sql {
  return sql`${text} collate utf8mb4_bin = convert(${collatedSql(text, type)} using utf8mb4) collate utf8mb4_bin`;
}

export function parameterSql(operand: Operand, perRow?: number): Sql {
  return parameter({
    operand,
    // Parameter markers are not shared.
    key: '',
    encode: encoder(operand),
    cast: { type: operand.type, array: operand.list },
    ...(perRow === undefined ? {} : { perRow }),
  });
}

/** Casts a text for the comparison with a column of the type. */
export function castSql(type: CatalogType, text: Sql): Sql {
  const family = familyOf(type);
  switch (family.kind) {
    case 'integer':
      return family.greatest > 2n ** 63n ? sql`cast(${text} as decimal(20,0))` : sql`cast(${text} as signed)`;
    case 'bits':
      return sql`cast(${text} as decimal(20,0))`;
    case 'boolean':
      return sql`cast(${text} as signed)`;
    case 'decimal':
      return sql`cast(${text} as decimal(65,30))`;
    case 'float':
      return sql`cast(${text} as float)`;
    case 'double':
      return sql`cast(${text} as double)`;
    case 'date':
      return sql`cast(${text} as date)`;
    case 'time':
      return sql`cast(${text} as time(6))`;
    case 'datetime':
    case 'timestamp':
      return sql`cast(${text} as datetime(6))`;
    case 'bytes':
      return sql`from_base64(${text})`;
    default:
      return text;
  }
}

/** Returns the SQL type as which items of a JSON array are read. */
export function listType(type: CatalogType): Sql {
  const family = familyOf(type);
  switch (family.kind) {
    case 'integer':
      return family.greatest > 2n ** 63n ? sql`decimal(20,0)` : sql`bigint`;
    case 'bits':
      return sql`decimal(20,0)`;
    case 'boolean':
      return sql`tinyint`;
    case 'decimal':
      return sql`decimal(65,30)`;
    case 'float':
      return sql`float`;
    case 'double':
      return sql`double`;
    case 'date':
      return sql`date`;
    case 'time':
      return sql`time(6)`;
    case 'datetime':
    case 'timestamp':
      return sql`datetime(6)`;
    case 'uuid':
    case 'inet':
      return sql`varchar(50)`;
    default: {
      const collation = type.collation?.name ?? '';
      return sql`longtext character set utf8mb4 collate ${identifier(collation.startsWith('utf8mb4_') ? collation : 'utf8mb4_general_ci')}`;
    }
  }
}
