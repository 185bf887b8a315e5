/**
 * Finds the permissions that depend on the type of a column: those that compare it with a literal, or set it to a literal. Session
 * variables do not count, because they are texts that any type may accept. Comparisons of two columns do not count either: if the types no
 * longer match, the permission becomes inconsistent.
 */
import { nameKey, type QualifiedName } from '../catalog/catalog.ts';
import type { Metadata } from '../metadata/metadata.ts';
import { PERMISSION_KINDS, type PermissionKind } from '../metadata/permission.ts';
import type { TableMetadata } from '../metadata/table.ts';
import { printName } from '../metadata/table-name.ts';
import type { SourceInfo } from '../schema-cache/schema-cache.ts';
import { sessionVariable } from '../schema-cache/stages/operand.ts';
import { isJsonArray, isJsonObject, type Json } from '../util/json.ts';
import { ROOT } from '../util/path.ts';

/** @returns texts as in `permission article.user.select in source "default"`, sorted */
export function typeDependents(metadata: Metadata, source: SourceInfo, table: QualifiedName, column: string): readonly string[] {
  const sought: Sought = { source, table: nameKey(table), column };
  const found: string[] = [];
  for (const entry of metadata.sources.get(source.name)?.tables.values() ?? []) {
    for (const kind of PERMISSION_KINDS) {
      for (const { role, permission } of entry[`${kind}Permissions`].values()) {
        if (!dependsOnType(sought, entry, permission)) continue;
        found.push(permissionText(source, entry.table, role, kind));
      }
    }
  }
  return found.sort();
}

function permissionText(source: SourceInfo, table: QualifiedName, role: string, kind: PermissionKind): string {
  return `permission ${printName(table, source.backend.defaultSchema)}.${role}.${kind} in source "${source.name}"`;
}

interface Sought {
  readonly source: SourceInfo;
  /** `nameKey` */
  readonly table: string;
  readonly column: string;
}

interface Parts {
  readonly filter?: Json;
  readonly check?: Json;
  readonly set?: ReadonlyMap<string, Json>;
}

function dependsOnType(sought: Sought, entry: TableMetadata, { filter, check, set }: Parts): boolean {
  const table = nameKey(entry.table);
  const preset = table === sought.table ? set?.get(sought.column) : undefined;
  if (preset !== undefined && isStatic(preset)) return true;
  return [filter, check].some((expression) => inExpression(sought, table, expression ?? null));
}

function inExpression(sought: Sought, table: string, expression: Json): boolean {
  if (!isJsonObject(expression)) return false;
  return Object.entries(expression).some(([key, value]) => {
    switch (key.replace(/^\$/, '_')) {
      case '_and':
      case '_or':
        return isJsonArray(value) && value.some((item) => inExpression(sought, table, item));
      case '_not':
        return inExpression(sought, table, value);
      case '_exists':
        return inExists(sought, value);
      default:
        return inField(sought, table, key, value);
    }
  });
}

function inExists(sought: Sought, value: Json): boolean {
  if (!isJsonObject(value)) return false;
  const written = value['_table'] ?? value['$table'];
  if (written === undefined) return false;
  const table = nameKey(sought.source.backend.tableName.decode(written, ROOT));
  return inExpression(sought, table, value['_where'] ?? value['$where'] ?? null);
}

function inField(sought: Sought, table: string, name: string, value: Json): boolean {
  const info = sought.source.tables.get(table);
  const returns = info?.computedFields.get(name)?.returns;
  const target = info?.relationships.get(name)?.target ?? (returns?.kind === 'table' ? returns.table : undefined);
  if (target !== undefined) return inExpression(sought, nameKey(target), value);
  if (table !== sought.table || name !== sought.column) return false;
  return isJsonObject(value) ? Object.entries(value).some(([operator, argument]) => hasStaticValue(operator, argument)) : isStatic(value);
}

const WITHOUT_VALUE = /^[_$](?:is_null|c(?:eq|ne|neq|gt|lt|gte|lte))$/;

function hasStaticValue(operator: string, argument: Json): boolean {
  return !WITHOUT_VALUE.test(operator) && isStatic(argument);
}

function isStatic(value: Json): boolean {
  return sessionVariable(value) === null;
}
