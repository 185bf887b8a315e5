/** Values as the database's JSON functions print them right, and as texts. */
import type { CatalogType } from '../../../catalog/catalog.ts';
import { type Sql, sql } from '../../../sql/fragment.ts';
import { familyOf, isStringified } from '../families.ts';
import type { Context } from './context.ts';

/** @param column the type that decides whether a number is printed as a text, where that is another one */
export function outputSql(context: Context, value: Sql, type: CatalogType, column: CatalogType = type): Sql {
  if (context.options.stringifyNumericTypes && isStringified(column)) return sql`cast(${number(value, type)} as char)`;
  const family = familyOf(type);
  switch (family.kind) {
    case 'boolean':
      // Beyond a derived table a truth value would be a number.
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

/** A value as a text that its type, or the same type of another database, reads. */
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

/** Columns and years that are filled up with zeros print no JSON numbers, bits none at all. */
function number(value: Sql, { name }: CatalogType): Sql {
  return name.endsWith('unsigned') || name === 'bit' || name === 'year' ? sql`(${value} + 0)` : value;
}

function textOf(value: Sql, type: CatalogType): Sql {
  switch (familyOf(type).kind) {
    case 'bytes':
      // It breaks lines.
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
      // The database does not put texts of several collations into one document.
      const text = type.collation?.name?.startsWith('utf8mb4_') === true ? value : sql`convert(${value} using utf8mb4)`;
      return sql`${text} collate utf8mb4_bin`;
    }
    default:
      return value;
  }
}
