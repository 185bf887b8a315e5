import type { CatalogType } from '../../../catalog/catalog.ts';
import { type Sql, sql } from '../../../sql/fragment.ts';
import type { Context } from './context.ts';
import { isSpatial } from './operand.ts';

const STRINGIFIED: ReadonlySet<string> = new Set(['int8', 'numeric', 'float8', 'money']);

/** Returns a value in a form that the database's JSON functions print as the response requires. Most types need no conversion. */
export function outputSql(context: Context, value: Sql, type: CatalogType): Sql {
  if (isSpatial(type)) {
    if (!type.array) return geoJson(value);
    const items = sql`select json_agg(${geoJson(sql`"x"`)}) from unnest(${value}) as "list" ("x")`;
    return sql`case when ${value} is not null then coalesce((${items}), '[]') end`;
  }
  if (context.options.stringifyNumericTypes && isStringified(type)) return type.array ? sql`(${value})::text[]` : sql`(${value})::text`;
  return value;
}

/** Returns whether the option makes values of a column's type, and aggregates of them, strings. */
export function isStringified(type: CatalogType): boolean {
  return type.schema === 'pg_catalog' && STRINGIFIED.has(type.name);
}

/** GeoJSON with 15 decimals and the long name of the reference system. */
function geoJson(value: Sql): Sql {
  return sql`st_asgeojson(${value}, 15, 4)::json`;
}
