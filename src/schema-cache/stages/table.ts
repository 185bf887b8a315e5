/** Resolves a table on its own: whether it exists, its names, and whether it can be tracked. */
import { type CatalogTable, nameKey, type QualifiedName } from '../../catalog/catalog.ts';
import type { TableConfiguration, TableMetadata } from '../../metadata/table.ts';
import { Defect, fromDefect, illegalName } from '../inconsistency.ts';
import { isFieldName } from '../../metadata/graphql-name.ts';
import { isGraphqlName, isSchemaName } from '../../model/graphql-name.ts';
import type { EnumValue, Inconsistency, TableCore } from '../schema-cache.ts';
import { fieldName, tableBaseName } from '../naming.ts';
import { describeTable } from './describe.ts';
import { resolveEnum } from './enum-table.ts';
import { printTable, type StageSource } from './lookups.ts';
import { requireScalar } from './type-name.ts';

export interface CoreInputs {
  readonly configuration: TableConfiguration;
  readonly isEnum: boolean;
  readonly federated: boolean;
  readonly catalog: CatalogTable | undefined;
  readonly enumRows: readonly EnumValue[] | undefined;
}

export interface CoreResult {
  readonly inputs: CoreInputs;
  readonly core: TableCore | null;
  readonly inconsistencies: readonly Inconsistency[];
}

/** Returns everything that the core of a table depends on. */
export function coreInputs(
  table: TableMetadata,
  tables: ReadonlyMap<string, CatalogTable>,
  enumValues: ReadonlyMap<string, readonly EnumValue[]>,
): CoreInputs {
  const key = nameKey(table.table);
  return {
    configuration: table.configuration,
    isEnum: table.isEnum,
    federated: table.extFederationConfig !== undefined,
    catalog: tables.get(key),
    enumRows: table.isEnum ? enumValues.get(key) : undefined,
  };
}

export function sameCoreInputs(a: CoreInputs, b: CoreInputs): boolean {
  return (
    a.configuration === b.configuration &&
    a.isEnum === b.isEnum &&
    a.federated === b.federated &&
    a.catalog === b.catalog &&
    a.enumRows === b.enumRows
  );
}

/** Returns the core of a table, or its inconsistency. */
export function resolveCore(source: StageSource, name: QualifiedName, inputs: CoreInputs): CoreResult {
  try {
    return { inputs, core: core(source, name, inputs), inconsistencies: [] };
  } catch (error) {
    if (!(error instanceof Defect)) throw error;
    return { inputs, core: null, inconsistencies: [fromDefect(describeTable(source, name), '', error)] };
  }
}

function core(source: StageSource, name: QualifiedName, inputs: CoreInputs): TableCore {
  const { configuration, catalog } = inputs;
  const printed = printTable(source, name);
  if (catalog === undefined) {
    const isNamed = name.schema !== '' && name.schema === source.unnamedSchema;
    const hint = isNamed ? `; the source is connected to "${name.schema}", so its tables are named without it` : '';
    throw new Defect(`no such table/view exists in source: "${printed}"${hint}`);
  }
  checkConstraintNames(source, catalog);
  const baseName = tableBaseName(name, configuration, source.backend.defaultSchema);
  if (configuration.customName !== undefined && !isSchemaName(baseName)) throw new Defect(illegalName(baseName));
  for (const custom of configuration.customRootFields.values()) {
    if (custom.name !== undefined && !isSchemaName(custom.name)) throw new Defect(illegalName(custom.name));
  }
  checkColumnNames(source, catalog, configuration);
  const inGraphql = isSchemaName(baseName);
  if (inGraphql) checkColumnTypes(source, catalog, configuration);
  return {
    source: source.name,
    name,
    catalog,
    configuration,
    baseName,
    customName: configuration.customName !== undefined,
    inGraphql,
    federated: inputs.federated,
    enumValues: inputs.isEnum ? enumValuesOf(source, catalog, printed, inputs.enumRows) : null,
  };
}

function enumValuesOf(
  source: StageSource,
  catalog: CatalogTable,
  printed: string,
  rows: readonly EnumValue[] | undefined,
): readonly EnumValue[] {
  const { types } = source.backend;
  const { text } = types.basic;
  return resolveEnum(
    catalog,
    printed,
    rows,
    ({ type }) => !type.array && type.name === text.name && type.schema === text.schema,
    ({ type }) => types.print(type),
  );
}

/**
 * Names of primary key and unique constraints become values of `T_constraint`, so they have to be GraphQL names. A name that the database
 * generated is ignored (and omitted from `T_constraint`) if its table or columns could not have produced a better one.
 */
function checkConstraintNames({ backend }: StageSource, table: CatalogTable): void {
  const keys = table.primaryKey === null ? table.uniqueConstraints : [table.primaryKey, ...table.uniqueConstraints];
  for (const { name, columns } of keys) {
    if (isGraphqlName(name)) continue;
    const madeUp = backend.isMadeUpConstraint(name) && [table.name.name, ...columns].some((part) => !isGraphqlName(part));
    if (!madeUp) throw new Defect(illegalName(name), { code: 'validation-failed', message: illegalName(name) });
  }
}

/** Columns that are omitted because of their names may have any type. */
function checkColumnTypes(source: StageSource, table: CatalogTable, configuration: TableConfiguration): void {
  for (const { name, type } of table.columns) {
    if (isFieldName(configuration.columnConfig.get(name)?.customName ?? name)) requireScalar(source, type);
  }
}

function checkColumnNames(source: StageSource, table: CatalogTable, configuration: TableConfiguration): void {
  // Database names are unique; conflicts only arise if some are replaced or re-cased.
  if (configuration.columnConfig.size === 0 && source.namingConvention === 'svc-default') return;
  const owners = new Map<string, string>();
  const clashes: string[] = [];
  for (const column of table.columns) {
    const custom = configuration.columnConfig.get(column.name)?.customName;
    if (custom !== undefined && !isGraphqlName(custom)) throw new Defect(illegalName(custom));
    const field = custom ?? fieldName(source.namingConvention, column.name);
    const owner = owners.get(field);
    if (owner === undefined) owners.set(field, column.name);
    else clashes.push(`"${field}" (columns "${owner}", "${column.name}")`);
  }
  if (clashes.length > 0) throw new Defect(`the following field names belong to more than one column: ${clashes.join(', ')}`);
}
