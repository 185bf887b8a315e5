/** Shared parts of the schemas of all roles for one source: names, scalars, enum tables. Independent of roles. */
import { type CatalogColumn, nameKey, type QualifiedName } from '../../catalog/catalog.ts';
import {
  enumComparisonTypeName,
  enumTypeName,
  enumValueName,
  fieldName,
  type NamePart,
  sourceTypeName,
  tableTypeName,
} from '../../schema-cache/naming.ts';
import type { ColumnInfo, SourceInfo, TableInfo } from '../../schema-cache/schema-cache.ts';
import { type EnumSchemaType, enumType, lazy } from '../../graphql-engine/types.ts';
import { type ComparisonType, enumComparisonType } from './comparison.ts';
import type { FieldOptions } from './options.ts';
import type { SharedTypes } from './shared-types.ts';

export interface EnumTable {
  readonly type: EnumSchemaType;
  readonly comparison: () => ComparisonType;
}

/**
 * Names of tables, columns and related objects. `database`: those of the database and of the metadata, including names that are not valid
 * in GraphQL.
 */
export type NameSet = 'graphql' | 'database';

export class SourceContext {
  readonly info: SourceInfo;
  readonly shared: SharedTypes;
  readonly options: FieldOptions;
  readonly names: NameSet;
  readonly #enums = new Map<string, EnumTable | null>();

  constructor(info: SourceInfo, shared: SharedTypes, options: FieldOptions, names: NameSet = 'graphql') {
    this.info = info;
    this.shared = shared;
    this.options = options;
    this.names = names;
  }

  /** Returns true if the table has such a name. */
  exposes(table: TableInfo): boolean {
    return this.names === 'database' || table.inGraphql;
  }

  /** Returns the columns with such a name, in catalog order. */
  columns(table: TableInfo): Iterable<ColumnInfo> {
    return this.names === 'graphql' ? table.columns.values() : table.catalog.columns.map(columnOfDatabase);
  }

  /** Returns the name of a field, an argument or an input field. */
  field(...parts: readonly NamePart[]): string {
    return fieldName(this.names === 'graphql' ? this.info.namingConvention : 'svc-default', ...parts);
  }

  /** Returns the name of a column's fields. */
  columnName(column: ColumnInfo): string {
    if (this.names === 'database') return column.name;
    return this.field(column.customName ? { literal: column.fieldName } : column.fieldName);
  }

  tableType(table: TableInfo, ...suffixes: readonly NamePart[]): string {
    return tableTypeName(this.info, table, ...suffixes);
  }

  type(...parts: readonly NamePart[]): string {
    return sourceTypeName(this.info, ...parts);
  }

  /** Returns the types of an enum table; null for other tables. */
  enumTable(name: QualifiedName): EnumTable | null {
    const key = nameKey(name);
    let made = this.#enums.get(key);
    if (made === undefined) {
      const table = this.info.tables.get(key);
      made = table === undefined || table.enumValues === null || !table.inGraphql ? null : this.#makeEnumTable(table);
      this.#enums.set(key, made);
    }
    return made;
  }

  #makeEnumTable(table: TableInfo): EnumTable {
    const convention = this.info.namingConvention;
    const type = enumType(enumTypeName(this.info, table), null, () =>
      (table.enumValues ?? []).map(({ value, description }) => ({ name: enumValueName(convention, value), description, value })),
    );
    return { type, comparison: lazy(() => enumComparisonType(this.shared, enumComparisonTypeName(this.info, table), type)) };
  }
}

function columnOfDatabase(catalog: CatalogColumn): ColumnInfo {
  return { name: catalog.name, fieldName: catalog.name, customName: false, comment: undefined, catalog, enumTable: null };
}
