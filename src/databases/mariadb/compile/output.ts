/** Converts values so that MariaDB's JSON functions print them correctly, and to texts. */
import type { CatalogType } from '../../../catalog/catalog.ts';
import { type Sql, sql } from '../../../sql/fragment.ts';
import { familyOf, isStringified } from '../families.ts';
import type { Context } from './context.ts';

/** @param column type that decides whether a number is printed as a string, if it differs from `type` */
export function outputSql(context: Context, value: Sql, type: CatalogType, column: CatalogType = type): Sql {
  if (context.options.stringifyNumericTypes && isStringified(column)) return sql`cast(${number(value, type)} as char)`;
  const family = familyOf(type);
  switch (family.kind) {
    case 'boolean':
      // Outside a derived table, a boolean would be a number.
      return sql`json_compact(case when ${value} then 'true' when not ${value} then 'false' end)`;
    case 'integer':
    case 'bits':
    case 'decimal':
    case 'float':
    case 'double':
      return number(value, type);
    case 'json':
      return sql`json_compact(${value})`;
    case 'geometry':
      return sql`json_compact(st_asgeojson(${value}))`;
    default:
      return textOf(value, type);
  }
}

/** Prints a value as a text that its type parses, also in other databases. */
export function textOutputSql(value: Sql, type: CatalogType): Sql {
  switch (familyOf(type).kind) {
    case 'boolean':
      return sql`case when ${value} then 'true' when not ${value} then 'false' end`;
    case 'integer':
    case 'bits':
    case 'decimal':
    case 'float':
    case 'double':
      return sql`cast(${number(value, type)} as char)`;
    case 'geometry':
      return sql`st_asgeojson(${value})`;
    default:
      return textOf(value, type);
  }
}

/** Zero-filled columns and years are not valid JSON numbers, and bits are not printed at all. */
function number(value: Sql, { name }: CatalogType): Sql {
  return name.endsWith('unsigned') || name === 'bit' || name === 'year' ? sql`(${value} + 0)` : value;
}

function textOf(value: Sql, type: CatalogType): Sql {
  switch (familyOf(type).kind) {
    case 'bytes':
      // Removes the line breaks of `to_base64`.
      return sql`replace(to_base64(${value}), '\\n', '')`;
    case 'datetime':
      return sql`replace(cast(${value} as char), ' ', 'T')`;
    case 'timestamp':
      return sql`concat(replace(cast(${value} as char), ' ', 'T'), '+00:00')`;
    case 'date':
    case 'time':
    case 'uuid':
    case 'inet':
      return sql`cast(${value} as char)`;
    case 'text': {
      // MariaDB cannot combine texts of several collations in one document.
      const text = type.collation?.name?.startsWith('utf8mb4_') === true ? value : sql`convert(${value} using utf8mb4)`;
      return sql`${text} collate utf8mb4_bin`;
    }
    default:
      return value;
  }
}
