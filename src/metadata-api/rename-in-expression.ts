import { nameKey, type QualifiedName } from '../catalog/catalog.ts';
import type { SourceInfo } from '../schema-cache/schema-cache.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../util/json.ts';
import { ROOT } from '../util/path.ts';

/** New names of renamed objects; returns other names unchanged. */
export interface NewNames {
  /** Returns the new name of a column, relationship or computed field. @param table `nameKey` of the table before the rename */
  field(table: string, name: string): string;
  table(name: QualifiedName): QualifiedName;
}

/**
 * Renames tables, columns and relationships in the boolean expression of a permission. Returns the same object if nothing in it is renamed.
 * Unknown keys stay.
 * @param source source before the rename, to follow relationships
 * @param table name of the permission's table before the rename
 */
export function renameInExpression(source: SourceInfo, table: QualifiedName, expression: Json, names: NewNames): Json {
  const root = nameKey(table);
  return inExpression({ source, root, names }, root, expression);
}

interface Renamer {
  readonly source: SourceInfo;
  /** The table of the permission. */
  readonly root: string;
  readonly names: NewNames;
}

function inExpression(renamer: Renamer, table: string, expression: Json): Json {
  if (!isJsonObject(expression)) return expression;
  return mapObject(expression, (key, value) => {
    switch (key.replace(/^\$/, '_')) {
      case '_and':
      case '_or':
        return [key, isJsonArray(value) ? mapArray(value, (item) => inExpression(renamer, table, item)) : value];
      case '_not':
        return [key, inExpression(renamer, table, value)];
      case '_exists':
        return [key, inExists(renamer, value)];
      default: {
        const next = targetOf(renamer.source, table, key);
        const inside = next === undefined ? inOperators(renamer, table, value) : inExpression(renamer, next, value);
        return [renamer.names.field(table, key), inside];
      }
    }
  });
}

function inExists(renamer: Renamer, value: Json): Json {
  if (!isJsonObject(value)) return value;
  const { backend } = renamer.source;
  const written = value['_table'] ?? value['$table'];
  if (written === undefined) return value;
  const table = backend.tableName.decode(written, ROOT);
  return mapObject(value, (key, item) => {
    const plain = key.replace(/^\$/, '_');
    if (plain === '_where') return [key, inExpression(renamer, nameKey(table), item)];
    if (plain !== '_table') return [key, item];
    const renamed = renamer.names.table(table);
    return [key, renamed === table ? item : backend.tableName.encode(renamed)];
  });
}

/** Returns the `nameKey` of the table to which a relationship or computed field leads. */
function targetOf(source: SourceInfo, table: string, field: string): string | undefined {
  const info = source.tables.get(table);
  const relationship = info?.relationships.get(field);
  const returns = info?.computedFields.get(field)?.returns;
  const target = relationship?.target ?? (returns?.kind === 'table' ? returns.table : undefined);
  return target && nameKey(target);
}

const COLUMN_OPERATOR = /^[_$]c(?:eq|ne|neq|gt|lt|gte|lte)$/;

/** Renames columns on the right side of `_ceq` and similar operators; `["$", "c"]` is a column of the permission's table. */
function inOperators({ root, names }: Renamer, table: string, value: Json): Json {
  if (!isJsonObject(value)) return value;
  return mapObject(value, (operator, reference) => {
    if (!COLUMN_OPERATOR.test(operator)) return [operator, reference];
    if (typeof reference === 'string') return [operator, names.field(table, reference)];
    if (!isJsonArray(reference)) return [operator, reference];
    const owner = reference.length > 1 ? root : table;
    return [
      operator,
      mapArray(reference, (step, i) => (typeof step === 'string' && i === reference.length - 1 ? names.field(owner, step) : step)),
    ];
  });
}

/** Keeps the order of the keys. Returns the same object if nothing changes. */
export function mapObject(object: JsonObject, change: (key: string, value: Json) => readonly [string, Json]): JsonObject {
  const before = Object.entries(object);
  const after = before.map(([key, value]) => change(key, value));
  return after.every(([key, value], i) => key === before[i]?.[0] && value === before[i]?.[1]) ? object : Object.fromEntries(after);
}

/** Returns the same array if nothing changes. */
export function mapArray(array: readonly Json[], change: (item: Json, index: number) => Json): readonly Json[] {
  const after = array.map(change);
  return after.every((item, i) => item === array[i]) ? array : after;
}
