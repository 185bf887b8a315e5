/**
 * Resolves one source in two steps: first each table on its own (`resolveCores`), then everything that refers to other objects
 * (`resolveSource`). Between the steps, names are checked across all sources. Results of the previous build are reused if their inputs are
 * the same objects.
 */
import type { Backend } from '../../backend/backend.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import type { EnvironmentVariables } from '../../metadata/environment-template.ts';
import { isFieldName } from '../../metadata/graphql-name.ts';
import type { SourceMetadata } from '../../metadata/metadata.ts';
import type { NamingConvention, SourceCustomization } from '../../metadata/source.ts';
import type { TableMetadata } from '../../metadata/table.ts';
import type { ColumnInfo, EnumValue, FunctionInfo, Inconsistency, SourceInfo, TableCore, TableInfo } from '../schema-cache.ts';
import type { Cooperative } from '../../util/cooperative.ts';
import { type EventTriggersResult, resolveEventTriggers } from './event-trigger.ts';
import { type FieldsResult, resolveFields } from './fields.ts';
import { type FunctionResult, resolveFunction } from './function.ts';
import { type Inheritance, type InheritancePlan, inheritPermissions } from './inherited-role.ts';
import type { StageLookups, StageSource, TableFields } from './lookups.ts';
import { type CoreResult, coreInputs, resolveCore, sameCoreInputs } from './table.ts';
import { type PermissionsResult, resolvePermissions } from './table-permissions.ts';

/** An open source, as input of the build. */
export interface OpenSource {
  readonly backend: Backend;
  readonly catalog: Catalog;
  /** Rows of tables tracked as enums, by `nameKey`; missing if they could not be read. */
  readonly enumValues: ReadonlyMap<string, readonly EnumValue[]>;
}

export interface CoresStage {
  readonly context: StageSource;
  readonly metadata: SourceMetadata;
  readonly open: OpenSource;
  readonly cores: ReadonlyMap<string, CoreResult>;
}

/** Resolves each table of an open source on its own. */
export function* resolveCores(
  metadata: SourceMetadata,
  namingConvention: NamingConvention,
  open: OpenSource,
  previous: CoresStage | undefined,
): Cooperative<CoresStage> {
  const { unnamedSchema } = open.catalog;
  const same =
    previous !== undefined &&
    previous.context.backend === open.backend &&
    previous.context.name === metadata.name &&
    previous.context.namingConvention === namingConvention &&
    previous.context.unnamedSchema === unnamedSchema;
  const unnamed = unnamedSchema === undefined ? {} : { unnamedSchema };
  const context = same ? previous.context : { name: metadata.name, backend: open.backend, namingConvention, ...unnamed };
  const cores = new Map<string, CoreResult>();
  for (const [key, table] of metadata.tables) {
    const inputs = coreInputs(table, open.catalog.tables, open.enumValues);
    const before = same ? previous.cores.get(key) : undefined;
    cores.set(key, before !== undefined && sameCoreInputs(before.inputs, inputs) ? before : resolveCore(context, table.table, inputs));
    yield;
  }
  return { context, metadata, open, cores };
}

interface TableStage {
  readonly core: TableCore;
  readonly fields: TableFields;
  readonly inheritance: Inheritance;
  readonly info: TableInfo;
}

export interface SourceStage {
  readonly cores: CoresStage;
  readonly fields: ReadonlyMap<string, FieldsResult>;
  readonly permissions: ReadonlyMap<string, PermissionsResult>;
  readonly tables: ReadonlyMap<string, TableStage>;
  readonly functions: ReadonlyMap<string, FunctionResult>;
  readonly eventTriggers: ReadonlyMap<string, EventTriggersResult>;
  readonly info: SourceInfo;
  readonly inconsistencies: readonly Inconsistency[];
}

export interface SourceScope {
  readonly customization: SourceCustomization;
  readonly plan: InheritancePlan;
  /** Returns true for a table or function whose names belong to another object. */
  readonly nameless: (kind: 'table' | 'function', key: string) => boolean;
  readonly environment: EnvironmentVariables;
}

/** Resolves the tables, functions and event triggers of a source against each other. */
export function* resolveSource(stage: CoresStage, scope: SourceScope, previous: SourceStage | undefined): Cooperative<SourceStage> {
  const { context, metadata, open } = stage;
  const before = previous?.cores.context === context ? previous : undefined;
  const cores = new Map<string, TableCore>();
  for (const [key, { core }] of stage.cores) if (core !== null && !scope.nameless('table', key)) cores.set(key, core);

  const fields = new Map<string, FieldsResult>();
  const lookups: StageLookups = {
    catalog: (key) => cores.get(key)?.catalog,
    enum: (key) => (cores.get(key)?.enumValues == null ? undefined : true),
    functions: (key) => open.catalog.functions.get(key),
    fields: (key) => fields.get(key)?.fields,
  };
  for (const [key, core] of cores) {
    fields.set(key, resolveFields(context, core, metadata.tables.get(key) as TableMetadata, lookups, before?.fields.get(key)));
    yield;
  }
  const permissions = new Map<string, PermissionsResult>();
  const tables = new Map<string, TableStage>();
  for (const [key, core] of cores) {
    const own = (fields.get(key) as FieldsResult).fields;
    const result = resolvePermissions(context, core, own, metadata.tables.get(key) as TableMetadata, lookups, before?.permissions.get(key));
    permissions.set(key, result);
    tables.set(key, resolveTable(context, core, result, scope.plan, before?.tables.get(key)));
    yield;
  }
  const infos = reuseMap(new Map([...tables].map(([key, { info }]) => [key, info])), before?.info.tables);
  const functions = resolveFunctions(stage, scope, infos, before);
  const eventTriggers = new Map<string, EventTriggersResult>();
  for (const [key, core] of cores) {
    const own = (metadata.tables.get(key) as TableMetadata).eventTriggers;
    if (own.size > 0)
      eventTriggers.set(key, resolveEventTriggers(context, core.catalog, own, scope.environment, before?.eventTriggers.get(key)));
  }
  const info = sourceInfo(stage, scope, { tables: infos, functions, eventTriggers }, before?.info);
  const inconsistencies = [
    ...stage.cores.values(),
    ...fields.values(),
    ...permissions.values(),
    ...[...tables.values()].map((t) => t.inheritance),
    ...functions.values(),
    ...eventTriggers.values(),
  ].flatMap((result) => result.inconsistencies);
  return { cores: stage, fields, permissions, tables, functions, eventTriggers, info, inconsistencies };
}

function resolveTable(
  source: StageSource,
  core: TableCore,
  { fields, permissions: own }: PermissionsResult,
  plan: InheritancePlan,
  previous: TableStage | undefined,
): TableStage {
  const previousInheritance = previous?.inheritance;
  const inheritance =
    previousInheritance !== undefined && previousInheritance.own === own && previousInheritance.plan === plan
      ? previousInheritance
      : inheritPermissions(source, core.name, own, plan);
  if (previous !== undefined && previous.core === core && previous.fields === fields && previous.inheritance === inheritance)
    return previous;
  const info: TableInfo = {
    source: source.name,
    name: core.name,
    catalog: core.catalog,
    configuration: core.configuration,
    baseName: core.baseName,
    customName: core.customName,
    inGraphql: core.inGraphql,
    federated: core.federated,
    columns: withFieldNames(fields.columns),
    relationships: fields.relationships,
    computedFields: fields.computedFields,
    permissions: inheritance.permissions,
    enumValues: core.enumValues,
  };
  return { core, fields, inheritance, info };
}

/** Returns only columns with a valid GraphQL field name. */
function withFieldNames(columns: ReadonlyMap<string, ColumnInfo>): ReadonlyMap<string, ColumnInfo> {
  for (const { fieldName } of columns.values()) {
    if (!isFieldName(fieldName)) return new Map([...columns].filter(([, column]) => isFieldName(column.fieldName)));
  }
  return columns;
}

function resolveFunctions(
  stage: CoresStage,
  scope: SourceScope,
  tables: ReadonlyMap<string, TableInfo>,
  previous: SourceStage | undefined,
): ReadonlyMap<string, FunctionResult> {
  const functions = new Map<string, FunctionResult>();
  for (const [key, metadata] of stage.metadata.functions) {
    if (scope.nameless('function', key)) continue;
    functions.set(
      key,
      resolveFunction(stage.context, metadata, stage.open.catalog.functions.get(key), tables, scope.plan, previous?.functions.get(key)),
    );
  }
  return functions;
}

interface Results {
  readonly tables: ReadonlyMap<string, TableInfo>;
  readonly functions: ReadonlyMap<string, FunctionResult>;
  readonly eventTriggers: ReadonlyMap<string, EventTriggersResult>;
}

function sourceInfo(stage: CoresStage, scope: SourceScope, results: Results, previous: SourceInfo | undefined): SourceInfo {
  const found = new Map<string, FunctionInfo>();
  for (const [key, { info }] of results.functions) if (info !== null) found.set(key, info);
  const { tables } = results;
  const functions = reuseMap(found, previous?.functions);
  const triggers = new Map([...results.eventTriggers.values()].flatMap(({ infos }) => [...infos]));
  const eventTriggers = reuseMap(triggers, previous?.eventTriggers);
  const { customization } = scope;
  const { namingConvention } = stage.context;
  const same =
    previous !== undefined &&
    previous.tables === tables &&
    previous.functions === functions &&
    previous.eventTriggers === eventTriggers &&
    previous.customization === customization &&
    previous.namingConvention === namingConvention;
  if (same) return previous;
  return { name: stage.context.name, backend: stage.context.backend, customization, namingConvention, tables, functions, eventTriggers };
}

/** Returns the previous map if it has the same entries in the same order. */
function reuseMap<V>(map: ReadonlyMap<string, V>, previous: ReadonlyMap<string, V> | undefined): ReadonlyMap<string, V> {
  if (previous === undefined || previous.size !== map.size) return map;
  const before = previous.entries();
  for (const [key, value] of map) {
    const [otherKey, other] = before.next().value as [string, V];
    if (otherKey !== key || other !== value) return map;
  }
  return previous;
}
