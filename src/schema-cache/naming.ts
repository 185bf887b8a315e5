/**
 * GraphQL names of a source, as pure functions of its customization and naming convention. The schema builders use these names and the
 * schema cache searches them for conflicts, so both agree.
 *
 * A name consists of parts: our words and those of the database are re-cased by `graphql-default`; literal parts (custom names of the
 * metadata) are not. Relationships have the names of the metadata.
 */
import type { TypeSystem } from '../backend/type-system.ts';
import type { CatalogType, QualifiedName } from '../catalog/catalog.ts';
import type { NamingConvention, SourceCustomization } from '../metadata/source.ts';
import type { CustomRootField, RootFieldKey } from '../metadata/table.ts';

export type NamePart = string | { readonly literal: string };

/** Decides the names of a source; implemented by `SourceInfo`. */
export interface NameStyle {
  readonly namingConvention: NamingConvention;
  readonly customization: SourceCustomization;
}

/** Decides the names of a table; implemented by `TableInfo`. */
export interface NamedTable {
  readonly baseName: string;
  readonly customName: boolean;
  readonly configuration: { readonly customRootFields: ReadonlyMap<RootFieldKey, CustomRootField> };
}

/** Returns the base of a table's GraphQL names, which need not be a valid GraphQL name. */
export function tableBaseName(
  name: QualifiedName,
  { customName }: { readonly customName?: string | undefined },
  defaultSchema: string,
): string {
  return customName ?? (name.schema === defaultSchema ? name.name : `${name.schema}_${name.name}`);
}

function upperFirst(text: string): string {
  return text === '' ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

/** Lowers the first word of a camelCase name: an abbreviation in capitals as a whole, otherwise its first letter. */
function lowerWord(word: string): string {
  return word === word.toUpperCase() ? word.toLowerCase() : word.charAt(0).toLowerCase() + word.slice(1);
}

function wordsOf(text: string): readonly string[] {
  return text.split('_').filter((word) => word !== '');
}

/** Leading underscores belong to the name (`_is_null`), all others only separate words. */
function recase(text: string, first: boolean, pascal: boolean): string {
  const underscores = first ? (/^_*/.exec(text)?.[0] ?? '') : '';
  const words = wordsOf(text);
  if (words.length === 0) return text;
  return underscores + words.map((word, i) => (i === 0 && first && !pascal ? lowerWord(word) : upperFirst(word))).join('');
}

function joinParts(convention: NamingConvention, parts: readonly NamePart[], pascal: boolean): string {
  if (convention === 'svc-default') return parts.map((part) => (typeof part === 'string' ? part : part.literal)).join('_');
  return parts
    .map((part, i) => {
      if (typeof part === 'string') return recase(part, i === 0, pascal);
      return i === 0 ? part.literal : upperFirst(part.literal);
    })
    .join('');
}

/** `a_b`, or `aB`. */
export function fieldName(convention: NamingConvention, ...parts: readonly NamePart[]): string {
  return joinParts(convention, parts, false);
}

/** Name of a type without the source's prefix and suffix: `order_by`, `Int_comparison_exp`, `OrderBy`. */
export function sharedTypeName(convention: NamingConvention, ...parts: readonly NamePart[]): string {
  return joinParts(convention, parts, true);
}

/** `Int_comparison_exp`, `Int_array_comparison_exp`; for kinds with their own operators `Int_dbb_comparison_exp`. */
export function comparisonTypeName(convention: NamingConvention, types: TypeSystem, type: CatalogType): string {
  const { graphql } = types.scalar(type);
  const kind = types.comparisonInfix === null ? [] : [types.comparisonInfix];
  return sharedTypeName(convention, graphql, ...kind, type.array ? 'array_comparison_exp' : 'comparison_exp');
}

/** Value of a fixed enum: `desc_nulls_first`, or `DESC_NULLS_FIRST`. */
export function enumValueName(convention: NamingConvention, value: string): string {
  return convention === 'svc-default' ? value : value.toUpperCase();
}

function enclose(convention: NamingConvention, prefix: string | undefined, name: string, suffix: string | undefined): string {
  if (convention === 'svc-default') return (prefix ?? '') + name + (suffix ?? '');
  return (prefix ?? '') + (prefix ? upperFirst(name) : name) + upperFirst(suffix ?? '');
}

/** Name of a type that a source generates, including its prefix and suffix. */
export function sourceTypeName(style: NameStyle, ...parts: readonly NamePart[]): string {
  const { prefix, suffix } = style.customization.typeNames;
  return enclose(style.namingConvention, prefix, sharedTypeName(style.namingConvention, ...parts), suffix);
}

/** Name of a root field, including the source's prefix and suffix. */
function rootFieldName(style: NameStyle, ...parts: readonly NamePart[]): string {
  const { prefix, suffix } = style.customization.rootFields;
  return enclose(style.namingConvention, prefix, fieldName(style.namingConvention, ...parts), suffix);
}

function basePart(table: NamedTable): NamePart {
  return table.customName ? { literal: table.baseName } : table.baseName;
}

/** `T`, or `T_<suffix>` with all suffixes. */
export function tableTypeName(style: NameStyle, table: NamedTable, ...suffixes: readonly NamePart[]): string {
  const inArguments = suffixes[0] === 'aggregate_order_by' || suffixes[0] === 'aggregate_bool_exp';
  const base = inArguments && style.namingConvention === 'graphql-default' ? joinedPart(table) : basePart(table);
  return sourceTypeName(style, base, ...suffixes);
}

/**
 * Types of aggregates inside `order_by` and `where` re-case custom names too (`myTableAggregateOrderBy` for `my_table`): clients know them
 * by these names. This is the only exception to the rule that custom names are literal.
 */
function joinedPart(table: NamedTable): NamePart {
  if (!table.customName) return table.baseName;
  return { literal: table.baseName.replaceAll(/(?<=[^_])_+([^_])/g, (_match, letter: string) => letter.toUpperCase()) };
}

/** `T_select_column_T_aggregate_bool_exp_bool_and_arguments_columns`. */
export function predicateColumnsTypeName(style: NameStyle, table: NamedTable, functionName: string): string {
  const base = basePart(table);
  return sourceTypeName(style, base, 'select_column', base, 'aggregate_bool_exp', functionName, 'arguments_columns');
}

/** `<field>_<T>_args` of a computed field. */
export function computedFieldArgsTypeName(style: NameStyle, field: string, table: NamedTable): string {
  return sourceTypeName(style, field, basePart(table), 'args');
}

/** `<n>_query` and so on; the namespace is never re-cased. */
export function namespaceTypeName(style: NameStyle, suffix: NamespaceSuffix): string {
  const { prefix, suffix: typeSuffix } = style.customization.typeNames;
  return enclose(style.namingConvention, prefix, `${style.customization.rootFields.namespace ?? ''}_${suffix}`, typeSuffix);
}

export type NamespaceSuffix = 'query' | 'subscription' | 'mutation_frontend' | 'mutation_backend';

const ROOT_FIELD_PARTS: Readonly<Record<RootFieldKey, (base: NamePart) => readonly NamePart[]>> = {
  select: (base) => [base],
  select_by_pk: (base) => [base, 'by_pk'],
  select_aggregate: (base) => [base, 'aggregate'],
  select_stream: (base) => [base, 'stream'],
  insert: (base) => ['insert', base],
  insert_one: (base) => ['insert', base, 'one'],
  update: (base) => ['update', base],
  update_by_pk: (base) => ['update', base, 'by_pk'],
  update_many: (base) => ['update', base, 'many'],
  delete: (base) => ['delete', base],
  delete_by_pk: (base) => ['delete', base, 'by_pk'],
};

export interface TableRootNames {
  readonly name: string;
  /**
   * A second name, unless another root field has it: `<custom name>_by_pk` in addition to `<custom name>_one`, so that queries with either
   * name run.
   */
  readonly alias: string | null;
}

/** Names of one root of a table. `custom_root_fields` replaces everything but the source's prefix and suffix. */
export function tableRootNames(style: NameStyle, table: NamedTable, key: RootFieldKey): TableRootNames {
  const custom = table.configuration.customRootFields.get(key)?.name;
  if (custom !== undefined) return { name: rootFieldName(style, { literal: custom }), alias: null };
  const base = basePart(table);
  const standard = rootFieldName(style, ...ROOT_FIELD_PARTS[key](base));
  if (key === 'select_by_pk' && table.customName) return { name: rootFieldName(style, base, 'one'), alias: standard };
  return { name: standard, alias: null };
}

/** Name of the connection of a table in Relay's schema: that of its select root is the stem. */
export function connectionRootName(style: NameStyle, table: NamedTable): string {
  const custom = table.configuration.customRootFields.get('select')?.name;
  return rootFieldName(style, custom === undefined ? basePart(table) : { literal: custom }, 'connection');
}

/** Decides the names of a function; implemented by `FunctionInfo`. */
export interface NamedFunction {
  readonly name: { readonly schema: string; readonly name: string };
  readonly customName: string | undefined;
  readonly customRootFields: ReadonlyMap<'function' | 'function_aggregate', CustomRootField>;
}

function functionPart(info: NamedFunction, defaultSchema: string): NamePart {
  return info.customName === undefined ? tableBaseName(info.name, {}, defaultSchema) : { literal: info.customName };
}

export function functionRootName(
  style: NameStyle,
  info: NamedFunction,
  defaultSchema: string,
  key: 'function' | 'function_aggregate',
): string {
  const custom = info.customRootFields.get(key)?.name;
  if (custom !== undefined) return rootFieldName(style, { literal: custom });
  const part = functionPart(info, defaultSchema);
  return key === 'function' ? rootFieldName(style, part) : rootFieldName(style, part, 'aggregate');
}

export function functionConnectionName(style: NameStyle, info: NamedFunction, defaultSchema: string): string {
  const custom = info.customRootFields.get('function')?.name;
  return rootFieldName(style, custom === undefined ? functionPart(info, defaultSchema) : { literal: custom }, 'connection');
}

/** Name of the input type of a function's arguments. */
export function functionArgsTypeName(style: NameStyle, info: NamedFunction, defaultSchema: string): string {
  return sourceTypeName(style, functionPart(info, defaultSchema), 'args');
}

/** Functions of `<rel>_aggregate` predicates that have types of their own. */
const PREDICATE_FUNCTIONS = ['count', 'bool_and', 'bool_or', 'avg', 'max', 'min', 'sum', 'stddev_samp', 'var_samp', 'corr', 'covar_samp'];
const AGGREGATES = ['sum', 'avg', 'stddev', 'stddev_pop', 'stddev_samp', 'variance', 'var_pop', 'var_samp', 'min', 'max'];
/** Functions of conditions on groups that have types of their own. */
const HAVING_FUNCTIONS = ['sum', 'avg', 'max'];
const TABLE_TYPES = [
  'aggregate',
  'aggregate_fields',
  'bool_exp',
  'order_by',
  'aggregate_order_by',
  'select_column',
  'update_column',
  'constraint',
  'on_conflict',
  'insert_input',
  'obj_rel_insert_input',
  'arr_rel_insert_input',
  'set_input',
  'inc_input',
  'append_input',
  'prepend_input',
  'delete_key_input',
  'delete_elem_input',
  'delete_at_path_input',
  'pk_columns_input',
  'updates',
  'mutation_response',
  'stream_cursor_input',
  'stream_cursor_value_input',
  'aggregate_bool_exp',
  'aggregate_group',
  'aggregate_group_key',
  'aggregate_group_order_by',
  'aggregate_group_key_order_by',
  'aggregate_having',
  'aggregate_time_column',
];

export type OperationRoot = 'query' | 'mutation' | 'subscription';

export interface ProducedRoot {
  readonly root: OperationRoot;
  /** Names are unique within one root and namespace. */
  readonly namespace: string | null;
  readonly name: string;
  /** If true, dropped silently if another root has the name. */
  readonly givesWay: boolean;
}

/** All root fields and types that an object may have for any role, to detect conflicts. */
export interface ProducedNames {
  readonly roots: readonly ProducedRoot[];
  readonly types: readonly string[];
}

const ROOTS_OF_KEY: Readonly<Record<RootFieldKey, readonly OperationRoot[]>> = {
  select: ['query', 'subscription'],
  select_by_pk: ['query', 'subscription'],
  select_aggregate: ['query', 'subscription'],
  select_stream: ['subscription'],
  insert: ['mutation'],
  insert_one: ['mutation'],
  update: ['mutation'],
  update_by_pk: ['mutation'],
  update_many: ['mutation'],
  delete: ['mutation'],
  delete_by_pk: ['mutation'],
};

/** Returns the root fields and types of a table, for all roles. */
export function namesOfTable(
  style: NameStyle,
  table: NamedTable & { readonly enumValues: unknown; readonly computedFields: ReadonlyMap<string, unknown> },
): ProducedNames {
  const namespace = style.customization.rootFields.namespace ?? null;
  const roots: ProducedRoot[] = [];
  for (const key of Object.keys(ROOTS_OF_KEY) as RootFieldKey[]) {
    const { name, alias } = tableRootNames(style, table, key);
    for (const root of ROOTS_OF_KEY[key]) {
      roots.push({ root, namespace, name, givesWay: false });
      if (alias !== null) roots.push({ root, namespace, name: alias, givesWay: true });
    }
  }
  const types = [tableTypeName(style, table), ...TABLE_TYPES.map((suffix) => tableTypeName(style, table, suffix))];
  for (const name of AGGREGATES) types.push(tableTypeName(style, table, name, 'fields'), tableTypeName(style, table, name, 'order_by'));
  for (const name of HAVING_FUNCTIONS) types.push(tableTypeName(style, table, name, 'having'));
  for (const name of PREDICATE_FUNCTIONS) types.push(tableTypeName(style, table, 'aggregate_bool_exp', name));
  for (const name of ['bool_and', 'bool_or']) types.push(predicateColumnsTypeName(style, table, name));
  for (const name of table.computedFields.keys()) types.push(computedFieldArgsTypeName(style, name, table));
  if (table.enumValues !== null) types.push(enumTypeName(style, table), enumComparisonTypeName(style, table));
  return { roots, types };
}

/** Returns the root fields and types of a function, for all roles. */
export function namesOfFunction(
  style: NameStyle,
  info: NamedFunction & { readonly exposedAs: 'query' | 'mutation' },
  defaultSchema: string,
): ProducedNames {
  const namespace = style.customization.rootFields.namespace ?? null;
  const exposures: readonly (readonly [OperationRoot, 'function' | 'function_aggregate'])[] =
    info.exposedAs === 'mutation'
      ? [['mutation', 'function']]
      : [
          ['query', 'function'],
          ['query', 'function_aggregate'],
          ['subscription', 'function'],
          ['subscription', 'function_aggregate'],
        ];
  return {
    roots: exposures.map(([root, key]) => ({ root, namespace, name: functionRootName(style, info, defaultSchema, key), givesWay: false })),
    types: [functionArgsTypeName(style, info, defaultSchema)],
  };
}

/** Returns the namespace field of a source and its types; empty without a namespace. */
export function namesOfNamespace(style: NameStyle): ProducedNames {
  const name = style.customization.rootFields.namespace;
  if (name === undefined || name === '') return { roots: [], types: [] };
  const suffixes: readonly NamespaceSuffix[] = ['query', 'subscription', 'mutation_frontend', 'mutation_backend'];
  return {
    roots: (['query', 'mutation', 'subscription'] as const).map((root) => ({ root, namespace: null, name, givesWay: false })),
    types: suffixes.map((suffix) => namespaceTypeName(style, suffix)),
  };
}

/** Name of the enum of an enum table. */
export function enumTypeName(style: NameStyle, table: NamedTable): string {
  return tableTypeName(style, table, 'enum');
}

/** Name of the conditions on columns that refer to an enum table. */
export function enumComparisonTypeName(style: NameStyle, table: NamedTable): string {
  return tableTypeName(style, table, 'enum_comparison_exp');
}
