/**
 * Converts the input of a write for the input validation hook of a permission. The hook receives the names of the equivalent GraphQL
 * mutation, so that it finds `_set` for every endpoint. Names without a GraphQL equivalent stay. The input has already been validated.
 */
import { nameKey, type QualifiedName } from '../catalog/catalog.ts';
import { fieldName } from '../schema-cache/naming.ts';
import type { SourceInfo, TableInfo } from '../schema-cache/schema-cache.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import type { WriteTable } from '../schema/fields/write-table.ts';

/** Returns values by GraphQL column name. */
export function writtenValues({ source, info }: WriteTable, values: Iterable<readonly [string, Json]>): JsonObject {
  return Object.fromEntries([...values].map(([column, json]) => [columnName(source.info, info, column), json]));
}

/** Returns the arguments of a mutation, whose operators begin with `_` instead of `$`. */
export function writtenArguments({ source }: WriteTable, args: Readonly<Record<string, Json | undefined>>): JsonObject {
  const present = Object.entries(args).filter((entry): entry is [string, Json] => entry[1] !== undefined);
  return Object.fromEntries(present.map(([name, json]) => [operatorName(source.info, name), json]));
}

export function writtenWhere({ source, info }: WriteTable, where: Json): Json {
  return expression(source.info, info, where);
}

/** Returns the GraphQL name of `$eq` or `_eq` in the naming convention of the source. */
function operatorName({ namingConvention }: SourceInfo, name: string): string {
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
      return [operatorName(source, key), isJsonArray(value) ? value.map((item) => expression(source, table, item)) : value];
    case '_not':
      return [operatorName(source, key), expression(source, table, value)];
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
  if (!isJsonObject(value)) return { [operatorName(source, '_eq')]: value };
  return Object.fromEntries(Object.entries(value).map(([operator, argument]) => [operatorName(source, operator), argument]));
}
