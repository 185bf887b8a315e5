import { nameKey } from '../catalog/catalog.ts';
import { isJsonArray, isJsonObject, type Json } from '../util/json.ts';
import { ROOT } from '../util/path.ts';
import type { SourceInfo } from './schema-cache.ts';

/** Objects to search for; tables by `nameKey`. A field is a column, a relationship or a computed field. */
export interface MentionTargets {
  readonly table: (key: string) => boolean;
  readonly field: (table: string, name: string) => boolean;
}

/** Returns true if a permission's boolean expression about a table mentions a target, directly or along a relationship. */
export function mentions(source: SourceInfo, table: string, expression: Json, targets: MentionTargets): boolean {
  return inExpression({ source, root: table, targets }, table, expression);
}

interface Search {
  readonly source: SourceInfo;
  /** The table of the permission. */
  readonly root: string;
  readonly targets: MentionTargets;
}

function inExpression(search: Search, table: string, expression: Json): boolean {
  if (!isJsonObject(expression)) return false;
  for (const key of Object.keys(expression)) {
    const value = expression[key] as Json;
    switch (key) {
      case '_and':
      case '$and':
      case '_or':
      case '$or':
        if (isJsonArray(value) && value.some((item) => inExpression(search, table, item))) return true;
        break;
      case '_not':
      case '$not':
        if (inExpression(search, table, value)) return true;
        break;
      case '_exists':
      case '$exists':
        if (inExists(search, value)) return true;
        break;
      default:
        if (inField(search, table, key, value)) return true;
    }
  }
  return false;
}

function inExists(search: Search, value: Json): boolean {
  if (!isJsonObject(value)) return false;
  const written = value['_table'] ?? value['$table'];
  const where = value['_where'] ?? value['$where'];
  if (written === undefined) return false;
  const table = nameKey(search.source.backend.tableName.decode(written, ROOT));
  return search.targets.table(table) || (where !== undefined && inExpression(search, table, where));
}

function inField(search: Search, table: string, name: string, value: Json): boolean {
  const { source, targets } = search;
  if (targets.field(table, name)) return true;
  const info = source.tables.get(table);
  const relationship = info?.relationships.get(name);
  const returns = info?.computedFields.get(name)?.returns;
  const next = relationship?.target ?? (returns?.kind === 'table' ? returns.table : undefined);
  if (next === undefined) return comparesColumns(search, table, value);
  const key = nameKey(next);
  return targets.table(key) || inExpression(search, key, value);
}

const COLUMN_OPERATOR = /^[_$]c(?:eq|ne|neq|gt|lt|gte|lte)$/;

/** Checks the right sides of `_ceq` and its family; `["$", "c"]` is a column of the permission's table. */
function comparesColumns({ root, targets }: Search, table: string, value: Json): boolean {
  if (!isJsonObject(value)) return false;
  return Object.keys(value).some((operator) => {
    if (!COLUMN_OPERATOR.test(operator)) return false;
    const reference = value[operator] as Json;
    const steps = isJsonArray(reference) ? reference : [reference];
    const column = steps.at(-1);
    return typeof column === 'string' && targets.field(steps.length > 1 ? root : table, column);
  });
}
