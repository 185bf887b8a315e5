/**
 * Joins metadata with catalogs. Pure: equal input gives an equal cache. With the previous build, everything whose inputs are the same
 * objects is reused, so a change of one object costs only one walk over the tables. Yields between tables, so that it can run
 * cooperatively.
 */
import type { Backend } from '../backend/backend.ts';
import type { EnvironmentVariables } from '../metadata/environment-template.ts';
import type { Metadata, SourceMetadata } from '../metadata/metadata.ts';
import type { ToRemoteSchema } from '../metadata/remote-relationship.ts';
import type { NamingConvention } from '../metadata/source.ts';
import type { Json } from '../util/json.ts';
import { runSync, type Cooperative } from '../util/cooperative.ts';
import { Defect, inconsistent } from './inconsistency.ts';
import { namesOfFunction, namesOfNamespace, namesOfTable } from './naming.ts';
import { objectId } from './object-id.ts';
import type { Inconsistency, RemoteSchemaInfo, RemoteSchemaTarget, SchemaCache, SourceInfo } from './schema-cache.ts';
import { cronTriggerDefects } from './stages/cron-trigger.ts';
import { describeFunction, describeRemotePermission, describeRemoteSchema, describeSource, describeTable } from './stages/describe.ts';
import {
  type ActionsStage,
  claimantsOfActions,
  nameConflictOfAction,
  resolveActions,
  resolveTypes,
  sharedCustomTypes,
} from './stages/actions.ts';
import { exposureOf } from './stages/function.ts';
import { type InheritancePlan, planInheritance } from './stages/inherited-role.ts';
import { type Claimant, claimNames, type NamesResult, ownersOf } from './stages/names.ts';
import { remoteSchemaTarget } from './stages/remote-argument.ts';
import {
  type FieldOfKey,
  type JoinableTargets,
  type RemoteRelationshipsResult,
  resolveRemoteRelationships,
} from './stages/remote-relationship.ts';
import { printTable } from './stages/lookups.ts';
import { remoteNameConflicts, roleTypeConflicts } from './stages/remote-names.ts';
import { inheritedConflict, type RemotePermissionStage, resolveRemotePermissions } from './stages/remote-permission.ts';
import { type RemoteSchemaInput, type RemoteSchemaStage, resolveRemoteSchema } from './stages/remote-schema.ts';
import { type SharedTypeDefinitions, sharedTypes } from './stages/shared-types.ts';
import { type CoresStage, type OpenSource, resolveCores, resolveSource, type SourceStage } from './stages/source.ts';
import type { ScalarSource } from './stages/database-scalar.ts';
import { openTelemetryDefects } from './stages/opentelemetry.ts';
import { unknownSections } from './stages/unknown-keys.ts';
import type { UnavailableSource } from './unavailable-source.ts';

export type SourceInput =
  | ({ readonly kind: 'open' } & OpenSource)
  /**
   * A source that could not be opened or introspected; `message` is the driver's text, for administrators. `backend` is absent for unknown
   * kinds.
   */
  | {
      readonly kind: 'failed';
      readonly reason: string;
      readonly isUnreachable?: boolean;
      readonly message?: Json;
      readonly backend?: Backend;
    };

export interface BuildOptions {
  readonly defaultNamingConvention: NamingConvention;
  /** If true, roles see only the parts of remote schemas for which they have a permission. */
  readonly remoteSchemaPermissions?: boolean;
  /** Variables that the metadata may refer to. Default none. */
  readonly environment?: EnvironmentVariables;
}

export interface BuildInput {
  readonly metadata: Metadata;
  /** Sources by name. A missing source counts as failed. */
  readonly sources: ReadonlyMap<string, SourceInput>;
  /** Remote schemas by name. A missing one counts as never introspected. */
  readonly remoteSchemas?: ReadonlyMap<string, RemoteSchemaInput>;
  readonly options: BuildOptions;
}

/** A build and its intermediate results, which the next build reuses. */
export interface Build {
  readonly cache: SchemaCache;
  readonly stages: BuildStages;
}

interface BuildStages {
  readonly sources: ReadonlyMap<string, SourceStage>;
  readonly remoteSchemas: ReadonlyMap<string, RemoteSchemaStage>;
  readonly remotePermissions: ReadonlyMap<string, RemotePermissionStage>;
  readonly names: NamesResult;
  readonly plan: InheritancePlan;
  readonly relationships: RemoteRelationshipsResult;
  readonly actions: ActionsStage;
}

const NOT_CONNECTED: SourceInput = { kind: 'failed', reason: 'connection error', isUnreachable: true };

/** Runs `schemaCacheBuild` without interruption. */
export function buildSchemaCache(input: BuildInput, previous?: Build): Build {
  return runSync(schemaCacheBuild(input, previous));
}

/**
 * Resolves the metadata against the catalogs. Problems are listed, not thrown.
 * @param previous its parts are reused if their inputs are the same objects
 */
export function* schemaCacheBuild(input: BuildInput, previous?: Build): Cooperative<Build> {
  const { metadata, options } = input;
  const before = previous?.stages;
  const environment = options.environment ?? {};
  const inconsistencies: Inconsistency[] = [
    ...unknownSections(metadata),
    ...cronTriggerDefects(metadata.cronTriggers, environment),
    ...openTelemetryDefects(metadata.openTelemetry, environment),
  ];
  const { cores, shared, unavailable } = yield* connectedSources(input, before, inconsistencies);
  const remotes = yield* introspectedRemoteSchemas(input, before, inconsistencies);
  const types = resolveTypes(metadata, scalarSources(metadata, input, options));
  const names = yield* claimedNames(metadata, cores, types, before, inconsistencies);
  const actionTypes = names.conflicts.has(objectId.customTypes()) ? [] : sharedCustomTypes(types);
  const usable = withoutConflicts(remotes, names, new Map([...shared.definitions, ...actionTypes]), inconsistencies);
  yield;

  const roles = permissionRoles(metadata);
  const plan = planInheritance(metadata.inheritedRoles, roles, before?.plan);
  inconsistencies.push(...plan.inconsistencies);
  for (const { roleName } of plan.roles) roles.add(roleName);

  const { remoteSchemas, remotePermissions } = yield* permittedRemoteSchemas(remotes, usable, plan, options, before, inconsistencies);
  withoutRoleConflicts(metadata, remoteSchemas, inconsistencies);
  const stages = yield* permittedSources(cores, names, plan, environment, before, inconsistencies);
  const sources = new Map<string, SourceInfo>([...stages].map(([name, { info }]) => [name, info]));
  const targets: JoinableTargets = { sources, remoteSchemas, remoteSchema: (...of) => remoteTarget(remoteSchemas, ...of) };
  const relationships = resolveRemoteRelationships(metadata, targets, (name) => stages.get(name)?.cores.context, before?.relationships);
  inconsistencies.push(...relationships.inconsistencies);
  yield;
  const actions = resolveActions(metadata, types, { targets, plan, names, environment }, before?.actions);
  inconsistencies.push(...actions.inconsistencies);
  const cache: SchemaCache = {
    sources,
    queryTags: queryTagsOf(metadata),
    remotePermissionsEnabled: options.remoteSchemaPermissions === true,
    remoteSchemas,
    remoteRelationships: relationships.bySource,
    remoteTypeRelationships: relationships.byRemoteSchema,
    customTypes: actions.customTypes,
    customTypeRelationships: actions.relationships.byType,
    actions: actions.infos,
    unsupportedOperators: shared.lacking,
    roles,
    inconsistencies,
    introspectionDisabledFor: new Set(metadata.introspection.disabledForRoles),
    apiLimits: metadata.apiLimits,
    unavailable: { sources: unavailable, inheritedRoles: metadata.inheritedRoles },
  };
  return { cache, stages: { sources: stages, remoteSchemas: remotes, remotePermissions, names, plan, relationships, actions } };
}

interface ConnectedSources {
  /** Tables and functions of the sources, before permissions. */
  readonly cores: readonly CoresStage[];
  readonly shared: ReturnType<typeof sharedTypes>;
  readonly unavailable: readonly UnavailableSource[];
}

/** Returns the sources that have a catalog and whose shared types agree. */
function* connectedSources(
  { metadata, sources, options }: BuildInput,
  before: BuildStages | undefined,
  inconsistencies: Inconsistency[],
): Cooperative<ConnectedSources> {
  const opened: CoresStage[] = [];
  const unavailable: UnavailableSource[] = [];
  for (const source of metadata.sources.values()) {
    const open = sources.get(source.name) ?? NOT_CONNECTED;
    const convention = conventionOf(source, options);
    if (open.kind === 'failed') {
      const { backend, reason, message, isUnreachable } = open;
      inconsistencies.push({
        ...inconsistent(describeSource(source.name), reason, message),
        ...(isUnreachable === true ? { isUnreachable } : {}),
      });
      if (backend === undefined) continue;
      unavailable.push({
        metadata: source,
        namingConvention: convention,
        backend,
        reason: typeof message === 'string' ? message : reason,
      });
    } else if (convention !== 'svc-default' && !open.backend.capabilities.namingConventions) {
      const reason = `sources other than postgres do not support ${convention} as naming convention yet`;
      inconsistencies.push(inconsistent(describeSource(source.name), reason));
    } else opened.push(yield* resolveCores(source, convention, open, before?.sources.get(source.name)?.cores));
  }
  const shared = sharedTypes(opened);
  for (const [name, reason] of shared.conflicts) inconsistencies.push(inconsistent(describeSource(name), reason));
  yield;
  return { cores: opened.filter(({ context }) => !shared.conflicts.has(context.name)), shared, unavailable };
}

function* introspectedRemoteSchemas(
  { metadata, remoteSchemas }: BuildInput,
  before: BuildStages | undefined,
  inconsistencies: Inconsistency[],
): Cooperative<ReadonlyMap<string, RemoteSchemaStage>> {
  const stages = new Map<string, RemoteSchemaStage>();
  for (const remote of metadata.remoteSchemas.values()) {
    const stage = resolveRemoteSchema(remote, remoteSchemas?.get(remote.name), before?.remoteSchemas.get(remote.name));
    stages.set(remote.name, stage);
    inconsistencies.push(...stage.inconsistencies);
    yield;
  }
  return stages;
}

/** Finds the names of root fields and types that several objects claim. */
function* claimedNames(
  metadata: Metadata,
  cores: readonly CoresStage[],
  types: ReturnType<typeof resolveTypes>,
  before: BuildStages | undefined,
  inconsistencies: Inconsistency[],
): Cooperative<NamesResult> {
  const claimants: Claimant[] = [];
  for (const stage of cores) {
    claimants.push(...claimantsOf(stage));
    yield;
  }
  claimants.push(...claimantsOfActions(metadata, types));
  const names = yield* claimNames(claimants, before?.names);
  yield;
  for (const [id, message] of names.conflicts) inconsistencies.push(nameConflict(metadata, cores, id, message));
  return names;
}

/** Narrows remote schemas to roles, if their permissions are enabled. */
function* permittedRemoteSchemas(
  remotes: ReadonlyMap<string, RemoteSchemaStage>,
  usable: ReturnType<typeof withoutConflicts>,
  plan: InheritancePlan,
  { remoteSchemaPermissions }: BuildOptions,
  before: BuildStages | undefined,
  inconsistencies: Inconsistency[],
): Cooperative<{
  readonly remoteSchemas: Map<string, RemoteSchemaInfo>;
  readonly remotePermissions: ReadonlyMap<string, RemotePermissionStage>;
}> {
  const remoteSchemas = new Map<string, RemoteSchemaInfo>();
  const remotePermissions = new Map<string, RemotePermissionStage>();
  for (const [name, { metadata: remote }] of remotes) {
    const info = usable.get(name);
    if (info === undefined) continue;
    if (remoteSchemaPermissions === true) {
      const permitted = resolveRemotePermissions(remote, info, plan, before?.remotePermissions.get(name));
      remotePermissions.set(name, permitted);
      inconsistencies.push(...permitted.inconsistencies);
      remoteSchemas.set(name, permitted.info);
      yield;
    } else remoteSchemas.set(name, info);
  }
  return { remoteSchemas, remotePermissions };
}

/** Resolves permissions, relationships and triggers of the sources whose names are not taken. */
function* permittedSources(
  cores: readonly CoresStage[],
  { conflicts }: NamesResult,
  plan: InheritancePlan,
  environment: EnvironmentVariables,
  before: BuildStages | undefined,
  inconsistencies: Inconsistency[],
): Cooperative<ReadonlyMap<string, SourceStage>> {
  const stages = new Map<string, SourceStage>();
  for (const core of cores) {
    const { name, customization } = core.metadata;
    if (conflicts.has(objectId.source(name))) continue;
    const inputs = { customization, plan, nameless: namelessIn(core, conflicts), environment };
    const stage = yield* resolveSource(core, inputs, before?.sources.get(name));
    stages.set(name, stage);
    inconsistencies.push(...stage.inconsistencies);
  }
  return stages;
}

function queryTagsOf({ sources }: Metadata): SchemaCache['queryTags'] {
  return new Map(
    [...sources].flatMap(([name, { queryTags }]) => (queryTags === undefined || queryTags.disabled ? [] : [[name, queryTags]])),
  );
}

/** @throws Defect */
function remoteTarget(
  remoteSchemas: SchemaCache['remoteSchemas'],
  definition: ToRemoteSchema,
  field: (name: string) => FieldOfKey | null,
  owner: string,
): RemoteSchemaTarget {
  const info = remoteSchemas.get(definition.remoteSchema);
  if (info === undefined) throw new Defect(`remote schema with name "${definition.remoteSchema}" not found`);
  return remoteSchemaTarget(definition, info.model, field, owner);
}

/** Returns the remote schemas that are part of the schema, and records the name conflicts of the others. */
function withoutConflicts(
  remotes: ReadonlyMap<string, RemoteSchemaStage>,
  names: NamesResult,
  shared: SharedTypeDefinitions,
  inconsistencies: Inconsistency[],
): SchemaCache['remoteSchemas'] {
  const usable = [...remotes.values()].flatMap(({ info }) => (info === null ? [] : [info]));
  if (usable.length === 0) return new Map();
  const owners = ownersOf(names);
  const conflicts = remoteNameConflicts(usable, (key) => owners.get(key), shared);
  for (const [remote, found] of conflicts) {
    const stage = remotes.get(remote);
    if (stage === undefined) continue;
    for (const { reason, name, withSource } of found) {
      const refusal = {
        code: 'remote-schema-conflicts',
        message: `node ${name} already exists in current graphql schema`,
        of: 'others',
      } as const;
      inconsistencies.push({ ...inconsistent(describeRemoteSchema(stage.metadata), reason), ...(withSource ? { refusal } : {}) });
    }
  }
  return new Map(usable.filter(({ name }) => !conflicts.has(name)).map((info) => [info.name, info]));
}

/** Ordered like the metadata. */
function scalarSources(metadata: Metadata, { sources }: BuildInput, options: BuildOptions): readonly ScalarSource[] {
  return [...metadata.sources.values()].flatMap((source): readonly ScalarSource[] => {
    const input = sources.get(source.name);
    if (input?.backend === undefined) return [];
    const catalog = input.kind === 'open' ? input.catalog : null;
    return [{ backend: input.backend, namingConvention: conventionOf(source, options), catalog }];
  });
}

/** Removes the permissions of roles that would see two types with one name. */
function withoutRoleConflicts(metadata: Metadata, remoteSchemas: Map<string, RemoteSchemaInfo>, inconsistencies: Inconsistency[]): void {
  for (const { remotes, role, reason } of roleTypeConflicts([...remoteSchemas.values()])) {
    for (const name of remotes) {
      const info = remoteSchemas.get(name);
      if (!info?.permissions?.has(role)) continue;
      remoteSchemas.set(name, { ...info, permissions: new Map([...info.permissions].filter(([each]) => each !== role)) });
      const permission = metadata.remoteSchemas.get(name)?.permissions.get(role);
      // A role without a permission of its own inherits one.
      inconsistencies.push(
        permission === undefined ? inheritedConflict(role, name, reason) : inconsistent(describeRemotePermission(name, permission), reason),
      );
    }
  }
}

function conventionOf(source: SourceMetadata, options: BuildOptions): NamingConvention {
  return source.customization.namingConvention ?? options.defaultNamingConvention;
}

/** Roles of the permissions of tables, remote schemas and actions, without admin. */
function permissionRoles(metadata: Metadata): Set<string> {
  const roles = new Set<string>();
  for (const source of metadata.sources.values()) {
    for (const table of source.tables.values()) {
      for (const entries of [table.selectPermissions, table.insertPermissions, table.updatePermissions, table.deletePermissions]) {
        for (const role of entries.keys()) roles.add(role);
      }
    }
  }
  for (const { permissions } of metadata.remoteSchemas.values()) for (const role of permissions.keys()) roles.add(role);
  for (const { permissions } of metadata.actions.values()) for (const role of permissions.keys()) roles.add(role);
  roles.delete('admin');
  return roles;
}

function claimantsOf(stage: CoresStage): readonly Claimant[] {
  const { context, metadata, open } = stage;
  const convention = context.namingConvention;
  const style = { namingConvention: convention, customization: metadata.customization };
  const claimants: Claimant[] = [];
  if (metadata.customization.rootFields.namespace !== undefined) {
    claimants.push({
      objectId: objectId.source(metadata.name),
      name: `source ${metadata.name}`,
      inputs: [metadata.customization, convention],
      names: () => namesOfNamespace(style),
    });
  }
  for (const [key, { core }] of stage.cores) {
    if (core === null || !core.inGraphql) continue;
    const computedFields = metadata.tables.get(key)?.computedFields ?? new Map();
    claimants.push({
      objectId: objectId.table(metadata.name, core.name),
      name: `table ${printTable(context, core.name)} in source ${metadata.name}`,
      inputs: [core, computedFields, metadata.customization, convention],
      names: () => namesOfTable(style, { ...core, computedFields }),
    });
  }
  for (const [key, tracked] of metadata.functions) {
    const found = open.catalog.functions.get(key)?.[0];
    const { customName, customRootFields } = tracked.configuration;
    claimants.push({
      objectId: objectId.function(metadata.name, tracked.function),
      name: describeFunction(context, tracked.function).name,
      inputs: [tracked.configuration, found, metadata.customization, convention],
      names: () =>
        namesOfFunction(
          style,
          { name: tracked.function, customName, customRootFields, exposedAs: exposureOf(tracked, found) },
          context.backend.defaultSchema,
        ),
    });
  }
  return claimants;
}

function nameConflict(all: Metadata, cores: readonly CoresStage[], id: string, message: string): Inconsistency {
  const refusal = { code: 'unexpected', message } as const;
  const described = nameConflictOfAction(all, id);
  if (described !== null) return { ...inconsistent(described, message), refusal };
  for (const { context, metadata } of cores) {
    if (id === objectId.source(metadata.name)) return { ...inconsistent(describeSource(metadata.name), message), refusal };
    for (const { table } of metadata.tables.values()) {
      if (id === objectId.table(metadata.name, table)) return { ...inconsistent(describeTable(context, table), message), refusal };
    }
    for (const { function: name } of metadata.functions.values()) {
      if (id === objectId.function(metadata.name, name)) return { ...inconsistent(describeFunction(context, name), message), refusal };
    }
  }
  throw new Error(`invariant: no object has the id ${id}`);
}

function namelessIn(stage: CoresStage, conflicts: ReadonlyMap<string, string>): (kind: 'table' | 'function', key: string) => boolean {
  if (conflicts.size === 0) return () => false;
  const { metadata } = stage;
  return (kind, key) => {
    const name = kind === 'table' ? metadata.tables.get(key)?.table : metadata.functions.get(key)?.function;
    return (
      name !== undefined && conflicts.has(kind === 'table' ? objectId.table(metadata.name, name) : objectId.function(metadata.name, name))
    );
  };
}
