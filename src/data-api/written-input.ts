/**
 * What a data operation is about to write, as the hook of a permission gets it: in the words of the
 * GraphQL mutation that does the same, so that a hook that looks at `_set` finds it whichever
 * endpoint was asked. What GraphQL has no word for stays as the request has it. Everything here was
 * checked before: it is only spelled anew.
 */
import { nameKey, type QualifiedName } from '../catalog/catalog.ts';
import { fieldName } from '../schema-cache/naming.ts';
import type { SourceInfo, TableInfo } from '../schema-cache/schema-cache.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import type { WriteTable } from '../schema/fields/write-table.ts';

/** Values by column. */
export function writtenValues({ source, info }: WriteTable, values: Iterable<readonly [string, Json]>): JsonObject {
  return Object.fromEntries([...values].map(([column, json]) => [columnName(source.info, info, column), json]));
}

/** Arguments of a mutation: its operators have their names with `_` there. */
export function writtenArguments({ source }: WriteTable, args: Readonly<Record<string, Json | undefined>>): JsonObject {
  const given = Object.entries(args).filter((entry): entry is [string, Json] => entry[1] !== undefined);
  return Object.fromEntries(given.map(([name, json]) => [word(source.info, name), json]));
}

/** The condition of a request. */
export function writtenWhere({ source, info }: WriteTable, where: Json): Json {
  return expression(source.info, info, where);
}

/** `$eq` and `_eq` alike, in the naming convention of the source. */
function word({ namingConvention }: SourceInfo, name: string): string {
  return fieldName(namingConvention, name.startsWith('$') ? `_${name.slice(1)}` : name);
}

function columnName({ namingConvention }: SourceInfo, table: TableInfo, name: string): string {
  const column = table.columns.get(name);
  if (column === undefined) return name;
  return fieldName(namingConvention, column.customName ? { literal: column.fieldName } : column.fieldName);
}

function expression(source: SourceInfo, table: TableInfo, json: Json): Json {
  if (!isJsonObject(json)) return json;
  return Object.fromEntries(Object.entries(json).map(([key, value]) => entry(source, table, key, value)));
}

function entry(source: SourceInfo, table: TableInfo, key: string, value: Json): readonly [string, Json] {
  switch (key.startsWith('$') ? `_${key.slice(1)}` : key) {
    case '_and':
    case '_or':
      return [word(source, key), isJsonArray(value) ? value.map((item) => expression(source, table, item)) : value];
    case '_not':
      return [word(source, key), expression(source, table, value)];
    case '_exists':
      return ['_exists', value];
    default:
      return fieldEntry(source, table, key, value);
  }
}

function fieldEntry(source: SourceInfo, table: TableInfo, key: string, value: Json): readonly [string, Json] {
  if (table.catalog.columns.some(({ name }) => name === key)) return [columnName(source, table, key), comparisons(source, value)];
  const inside = (target: QualifiedName): Json => {
    const info = source.tables.get(nameKey(target));
    return info === undefined ? value : expression(source, info, value);
  };
  const relationship = table.relationships.get(key);
  if (relationship !== undefined) return [key, inside(relationship.target)];
  const name = fieldName(source.namingConvention, key);
  const returns = table.computedFields.get(key)?.returns;
  return [name, returns?.kind === 'table' ? inside(returns.table) : comparisons(source, value)];
}

function comparisons(source: SourceInfo, value: Json): Json {
  if (!isJsonObject(value)) return { [word(source, '_eq')]: value };
  return Object.fromEntries(Object.entries(value).map(([operator, argument]) => [word(source, operator), argument]));
}
