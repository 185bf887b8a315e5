import type { QualifiedName } from '../../catalog/catalog.ts';
import type { ColumnInfo, TableCore } from '../schema-cache.ts';
import type { RecordedLookups } from './lookups.ts';

/** Returns all columns of a table by database name, including those without a valid GraphQL name. */
export function resolveColumns(core: TableCore, lookups: RecordedLookups): ReadonlyMap<string, ColumnInfo> {
  const enums = enumColumns(core, lookups);
  const columns = new Map<string, ColumnInfo>();
  for (const column of core.catalog.columns) {
    const config = core.configuration.columnConfig.get(column.name);
    columns.set(column.name, {
      name: column.name,
      fieldName: config?.customName ?? column.name,
      customName: config?.customName !== undefined,
      comment: config?.comment === undefined ? undefined : config.comment === '' ? null : config.comment,
      catalog: column,
      enumTable: enums.get(column.name) ?? null,
    });
  }
  return columns;
}

/** Returns the columns with a single-column foreign key to the key of an enum table. */
function enumColumns(core: TableCore, lookups: RecordedLookups): ReadonlyMap<string, QualifiedName> {
  const found = new Map<string, QualifiedName>();
  for (const foreignKey of core.catalog.foreignKeys) {
    const column = foreignKey.columns[0];
    if (column === undefined || foreignKey.columns.length !== 1 || found.has(column)) continue;
    if (!lookups.isEnum(foreignKey.target)) continue;
    const target = lookups.tracked(foreignKey.target);
    if (target?.primaryKey?.columns[0] === foreignKey.targetColumns[0]) found.set(column, foreignKey.target);
  }
  return found;
}
