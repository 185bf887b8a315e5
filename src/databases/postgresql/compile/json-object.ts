/** JSON objects with the keys of the response, made from rows where possible, because that is fastest. */
import { Buffer } from 'node:buffer';
import { identifier, join, string, type Sql, sql } from '../../../sql/fragment.ts';

export interface Entry {
  readonly key: string;
  readonly value: Sql;
}

/** Conversion of the columns of a subquery to one JSON object. */
export interface ObjectShape {
  /** Select list of the subquery. */
  readonly columns: Sql;
  /** Returns the object as an argument of `json_agg`. */
  item(alias: Sql): Sql;
  /** Returns the object as a column of a select list, where `t.*` alone would be expanded. */
  record(alias: Sql): Sql;
  /** Returns the object as a JSON value. */
  json(alias: Sql): Sql;
}

/** Maximum length of names in PostgreSQL, which truncates longer ones. */
const NAME_BYTES = 63;
/** Half of the maximum number of arguments of a function. */
const MAX_PAIRS = 50;

/** Makes entries named columns, so that the row itself is the object, or one column with a built object if a key is too long for a name. */
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

/** Builds an object by a function. If it has more than 50 entries, their values must not be aggregates. */
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

/** Returns whether `builtObject` accepts aggregates as values. */
export function fitsOneCall(entries: readonly unknown[]): boolean {
  return entries.length <= MAX_PAIRS;
}
