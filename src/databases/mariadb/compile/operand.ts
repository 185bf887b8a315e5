/** Values in statements: a placeholder for each, whose text is cast to the type that it is compared with. */
import type { CatalogType } from '../../../catalog/catalog.ts';
import type { Operand, Value } from '../../../ir/value.ts';
import { identifier, parameter, type Sql, sql } from '../../../sql/fragment.ts';
import { encoder } from '../coerce/encode.ts';
import { familyOf } from '../families.ts';
import { BIGINT, TEXT } from '../type-of.ts';
import { collatedSql } from './collation.ts';
import type { Context } from './context.ts';

/** A single value; a list as a JSON array of texts. @param perRow of the parameter */
export function operandSql(operand: Operand, perRow?: number): Sql {
  const { value, type, list } = operand;
  if (value.kind === 'literal' && value.json === null) return sql`null`;
  const placed = placeholderSql(operand, perRow);
  return list || type.array ? placed : castSql(type, placed);
}

/** A number of rows; nothing for null. */
export function countSql(value: Value): Sql {
  return sql`coalesce(${operandSql({ value, type: BIGINT, list: false })}, 0)`;
}

/** What an `offset` takes: a placeholder alone. */
export function offsetSql(value: Value): Sql {
  const operand = { value, type: BIGINT, list: false };
  const encode = encoder(operand);
  return parameter({ operand, key: '', encode: (json) => encode(json) ?? '0' });
}

export function textSql(value: Value): Sql {
  return operandSql({ value, type: TEXT, list: false });
}

/** The values of a list, with their places from 1 on, as an item of a from clause with the columns `v` and `i`. */
export function listItem(operand: Operand, alias: Sql): Sql {
  const columns = sql`\`i\` for ordinality, \`v\` ${listType(operand.type)} path '$'`;
  return sql`json_table(${placeholderSql(operand)}, '$[*]' columns (${columns})) as ${alias}`;
}

/** A value of such a list, as its type; null for a text that no column of the type can hold, which equals none of them. */
export function listValue(type: CatalogType, alias: Sql): Sql {
  const value = sql`${alias}.\`v\``;
  if (isForeign(type)) return sql`case when ${isHeld(type, value)} then ${collatedSql(value, type)} end`;
  return familyOf(type).kind === 'bytes' ? sql`from_base64(${value})` : value;
}

/** The values of a list as a select with the column `v`. */
export function listSql(context: Context, operand: Operand): Sql {
  const { type } = operand;
  const alias = context.alias();
  const item = listItem(operand, alias);
  if (!isForeign(type)) return sql`select ${listValue(type, alias)} as \`v\` from ${item}`;
  const value = sql`${alias}.\`v\``;
  return sql`select ${collatedSql(value, type)} as \`v\` from ${item} where ${value} is null or ${isHeld(type, value)}`;
}

/** Beside a value of Unicode the server forgets the collation of a column of another character set, that of its own does not matter. */
function isForeign({ collation }: CatalogType): boolean {
  return collation?.name?.startsWith('utf8mb4_') === false;
}

/** Whether the type's character set has all characters of a text: the server puts question marks for others. */
function isHeld(type: CatalogType, text: Sql): Sql {
  return sql`${text} collate utf8mb4_bin = convert(${collatedSql(text, type)} using utf8mb4) collate utf8mb4_bin`;
}

/** Its text, without a cast. */
export function placeholderSql(operand: Operand, perRow?: number): Sql {
  return parameter({
    operand,
    // No two placeholders are the same one.
    key: '',
    encode: encoder(operand),
    cast: { type: operand.type, array: operand.list },
    ...(perRow === undefined ? {} : { perRow }),
  });
}

/** A text as the value of a type that columns are compared with. */
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

/** What items of a JSON array of texts are read as. */
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
