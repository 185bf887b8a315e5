/** JSON objects with the response's keys: as rows wherever that is possible, because that is fastest. */
import { Buffer } from 'node:buffer';
import { identifier, join, string, type Sql, sql } from '../../../sql/fragment.ts';

export interface Entry {
  readonly key: string;
  readonly value: Sql;
}

/** How the columns of a sub-select become one JSON object. */
export interface ObjectShape {
  /** The select list. */
  readonly columns: Sql;
  /** The object, as an argument of `json_agg`. */
  item(alias: Sql): Sql;
  /** The same as a column of a select list; a lone `t.*` would be expanded there. */
  record(alias: Sql): Sql;
  /** The object as a JSON value. */
  json(alias: Sql): Sql;
}

/** PostgreSQL cuts longer names. */
const NAME_BYTES = 63;
/** Half of the arguments that a function may have. */
const MAX_PAIRS = 50;

/**
 * Entries as named columns, so that the row itself is the object; as one column with a built object
 * where a key is too long for a name.
 */
export function objectShape(entries: readonly Entry[]): ObjectShape {
  if (entries.every((entry) => Buffer.byteLength(entry.key) <= NAME_BYTES)) {
    return {
      columns: join(
        entries.map((entry) => sql`${entry.value} as ${identifier(entry.key)}`),
        sql`, `,
      ),
      // `"t1".*`, not `"t1"`, which would mean the key of that name.
      item: (alias) => sql`${alias}.*`,
      record: (alias) => sql`coalesce(${alias}.*)`,
      json: (alias) => sql`row_to_json(${alias}.*)`,
    };
  }
  const value = (alias: Sql): Sql => sql`${alias}."json"`;
  return { columns: sql`${builtObject(entries)} as "json"`, item: value, record: value, json: value };
}

/** An object built by a function. The values must not be aggregates when there are more than 50. */
export function builtObject(entries: readonly Entry[]): Sql {
  if (entries.length <= MAX_PAIRS) {
    return sql`json_build_object(${join(
      entries.map((entry) => sql`${string(entry.key)}, ${entry.value}`),
      sql`, `,
    )})`;
  }
  const rows = entries.map((entry) => sql`(${string(entry.key)}, to_json(${entry.value}))`);
  return sql`(select json_object_agg("k", "v") from (values ${join(rows, sql`, `)}) as "pairs" ("k", "v"))`;
}

/** Whether `builtObject` takes aggregates as values. */
export function fitsOneCall(entries: readonly unknown[]): boolean {
  return entries.length <= MAX_PAIRS;
}
