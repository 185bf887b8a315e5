import type { CatalogColumn, CatalogTable } from '../../catalog/catalog.ts';
import { isGraphqlName } from '../../model/graphql-name.ts';
import type { EnumValue } from '../schema-cache.ts';
import { defectBecause } from '../inconsistency.ts';
import { catalogColumn } from './lookups.ts';

const RESERVED = new Set(['true', 'false', 'null']);

/** Returns the reasons why a table cannot be an enum because of its shape. */
function shapeDefects(
  table: CatalogTable,
  isText: (column: CatalogColumn) => boolean,
  print: (column: CatalogColumn) => string,
): readonly string[] {
  const reasons: string[] = [];
  const key = table.primaryKey;
  if (key === null) reasons.push('the table must have a primary key');
  else if (key.columns.length !== 1) {
    reasons.push(`the table’s primary key must not span multiple columns (${[...key.columns].sort().join(', ')})`);
  } else {
    const column = catalogColumn(table, key.columns[0] as string);
    if (column !== undefined && !isText(column)) {
      reasons.push(`the table’s primary key ("${column.name}") must have type "text", not type "${print(column)}"`);
    }
  }
  const others = table.columns.filter((column) => !(key?.columns ?? []).includes(column.name));
  if (key !== null && others.length > 1) {
    const names = table.columns.map((column) => column.name).sort();
    reasons.push(
      `the table must have exactly one primary key and optionally one comment column, not ${names.length} columns (${names.join(', ')})`,
    );
  } else if (key !== null && others[0] !== undefined && !isText(others[0])) {
    reasons.push(`the table’s comment column ("${others[0].name}") must have type "text", not type "${print(others[0])}"`);
  }
  return reasons;
}

/** Returns the columns with the values and descriptions of an enum table; null if the table does not have the shape of one. */
export function enumTableColumns(table: CatalogTable): { readonly value: string; readonly description: string | null } | null {
  const value = table.primaryKey?.columns.length === 1 ? table.primaryKey.columns[0] : undefined;
  const others = table.columns.filter((column) => column.name !== value);
  if (value === undefined || others.length > 1) return null;
  return { value, description: others[0]?.name ?? null };
}

/**
 * Returns the sorted values of an enum table.
 * @param rows rows of the table; undefined if they could not be read
 * @throws Defect with all problems
 */
export function resolveEnum(
  table: CatalogTable,
  printed: string,
  rows: readonly EnumValue[] | undefined,
  isText: (column: CatalogColumn) => boolean,
  printType: (column: CatalogColumn) => string,
): readonly EnumValue[] {
  const reasons = [...shapeDefects(table, isText, printType)];
  if (reasons.length === 0) {
    if (rows === undefined) reasons.push('its rows could not be read');
    else if (rows.length === 0) reasons.push('the table must have at least one row');
    for (const { value } of rows ?? []) {
      if (!isGraphqlName(value) || RESERVED.has(value)) reasons.push(`the value "${value}" is not a valid GraphQL enum value name`);
    }
  }
  if (reasons.length > 0) throw defectBecause(`the table "${printed}" cannot be used as an enum`, reasons);
  return [...(rows ?? [])].sort((a, b) => (a.value < b.value ? -1 : a.value > b.value ? 1 : 0));
}
