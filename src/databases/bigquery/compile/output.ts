/** Values as JSON texts, and as texts of keys. The text is null if the value is. */
import type { CatalogType } from '../../../catalog/catalog.ts';
import { type Sql, sql } from '../../../sql/fragment.ts';
import { familyOf, isStringified } from '../families.ts';
import type { Context } from './context.ts';

/** @param column type that decides whether a number is printed as a string, if it differs from `type` */
export function outputSql(context: Context, value: Sql, type: CatalogType, column: CatalogType = type): Sql {
  const asText = context.options.stringifyNumericTypes && isStringified(column);
  if (!type.array) return scalarSql(value, type, asText);
  switch (familyOf(type)) {
    // Printed as a whole, large items would become strings.
    case 'integer':
    case 'decimal':
    case 'float':
    case 'geography':
    case 'interval':
    case 'range': {
      const item = sql`ifnull(${scalarSql(sql`v`, type, asText)}, 'null')`;
      return sql`if(${value} is null, null, concat('[', array_to_string(array(select ${item} from unnest(${value}) as v with offset as o order by o), ','), ']'))`;
    }
    default:
      return sql`to_json_string(${value})`;
  }
}

function scalarSql(value: Sql, type: CatalogType, asText: boolean): Sql {
  switch (familyOf(type)) {
    case 'integer':
    case 'decimal':
      return asText ? sql`to_json_string(cast(${value} as string))` : sql`cast(${value} as string)`;
    case 'float':
      return asText ? sql`to_json_string(cast(${value} as string))` : sql`to_json_string(${value})`;
    case 'geography':
      return sql`st_asgeojson(${value})`;
    case 'interval':
      return sql`to_json_string(cast(${value} as string))`;
    case 'range':
      return sql`to_json_string(${rangeText(value)})`;
    default:
      return sql`to_json_string(${value})`;
  }
}

/** `[2020-01-01, UNBOUNDED)`, the format that BigQuery parses. */
function rangeText(value: Sql): Sql {
  const [start, end] = [sql`range_start(${value})`, sql`range_end(${value})`].map(
    (bound) => sql`ifnull(cast(${bound} as string), 'UNBOUNDED')`,
  );
  return sql`if(${value} is null, null, concat('[', ${start as Sql}, ', ', ${end as Sql}, ')'))`;
}

/** Prints a value as a text that its type parses, also in other databases. */
export function textOutputSql(value: Sql, type: CatalogType): Sql {
  if (type.array) return sql`to_json_string(${value})`;
  switch (familyOf(type)) {
    case 'text':
      return value;
    case 'bytes':
      return sql`to_base64(${value})`;
    case 'json':
    case 'struct':
      return sql`to_json_string(${value})`;
    case 'geography':
      return sql`st_asgeojson(${value})`;
    case 'range':
      return rangeText(value);
    case 'timestamp':
      return sql`format_timestamp('%Y-%m-%dT%H:%M:%E*SZ', ${value})`;
    case 'datetime':
      return sql`format_datetime('%Y-%m-%dT%H:%M:%E*S', ${value})`;
    default:
      return sql`cast(${value} as string)`;
  }
}
