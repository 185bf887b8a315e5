/** Custom types and actions together: their names, their validity and their inconsistencies. */
import type { EnvironmentVariables } from '../../metadata/environment-template.ts';
import type { Metadata } from '../../metadata/metadata.ts';
import { type CustomTypeInfo, type CustomTypesInfo, type DatabaseScalarInfo, PLAIN_SCALARS } from '../action-info.ts';
import type { ObjectDescription } from '../inconsistency.ts';
import type { OperationRoot, ProducedNames } from '../naming.ts';
import { objectId } from '../object-id.ts';
import type { Inconsistency, SchemaCache } from '../schema-cache.ts';
import { type ActionStage, resolveAction, scalarsNamed } from './action.ts';
import {
  type CustomRelationshipsStage,
  type CustomTypesStage,
  customTypesRecord,
  resolveCustomRelationships,
  resolveCustomTypes,
} from './custom-types.ts';
import { type ScalarFinder, type ScalarSource, scalarFinder } from './database-scalar.ts';
import { describeAction, describeCustomTypes } from './describe.ts';
import type { InheritancePlan } from './inherited-role.ts';
import type { Claimant, NamesResult } from './names.ts';
import type { JoinableTargets } from './remote-relationship.ts';
import { enumDefinition, SCALAR_DEFINITION, type SharedTypeDefinitions } from './shared-types.ts';
import { type GraphqlType, namedTypeIn } from '../../metadata/graphql-type.ts';
import type { Action } from '../../metadata/action.ts';

export interface TypesStage extends CustomTypesStage {
  readonly scalarOf: ScalarFinder;
  /** Types that actions use, directly or indirectly. Other types are in no schema and occupy no name. */
  readonly used: ReadonlySet<string>;
}

export interface ActionsStage {
  readonly customTypes: CustomTypesInfo;
  readonly relationships: CustomRelationshipsStage;
  readonly actions: ReadonlyMap<string, ActionStage>;
  readonly infos: SchemaCache['actions'];
  readonly inconsistencies: readonly Inconsistency[];
}

/** Resolves custom types and the database scalars that they refer to. */
export function resolveTypes(metadata: Metadata, sources: readonly ScalarSource[]): TypesStage {
  const scalarOf = scalarFinder(sources);
  return { ...resolveCustomTypes(metadata.customTypes, scalarOf), scalarOf, used: typesOfActions(metadata) };
}

/** Returns the types of arguments and answers, and all types that these contain. */
function typesOfActions({ actions, customTypes: { inputObjects, objects } }: Metadata): ReadonlySet<string> {
  const fields = new Map([...inputObjects, ...objects].map((type) => [type.name, type.fields]));
  const used = new Set<string>();
  const open: string[] = [];
  const add = (type: GraphqlType): void => {
    const name = namedTypeIn(type);
    if (used.has(name)) return;
    used.add(name);
    open.push(name);
  };
  for (const { definition } of actions.values())
    for (const type of [definition.outputType, ...definition.arguments.map((each) => each.type)]) add(type);
  for (let name = open.pop(); name !== undefined; name = open.pop()) for (const { type } of fields.get(name) ?? []) add(type);
  return used;
}

const ROOTS: Readonly<Record<Action['definition']['kind'], readonly OperationRoot[]>> = {
  query: ['query'],
  synchronous: ['mutation'],
  asynchronous: ['mutation', 'query', 'subscription'],
};

export function claimantsOfActions(metadata: Metadata, types: TypesStage): readonly Claimant[] {
  const claimants: Claimant[] = [];
  const names = ownTypes(types).map(({ name }) => name);
  if (names.length > 0) {
    claimants.push({
      objectId: objectId.customTypes(),
      name: 'custom types',
      inputs: [names.join()],
      names: () => ({ roots: [], types: names }),
    });
  }
  for (const action of metadata.actions.values()) {
    const { kind } = action.definition;
    claimants.push({
      objectId: objectId.action(action.name),
      name: `action ${action.name}`,
      inputs: [kind],
      names: () => namesOfAction(action.name, kind),
    });
  }
  return claimants;
}

function ownTypes({ info, used }: TypesStage): readonly CustomTypeInfo[] {
  return [...info.values()].filter(({ kind, name }) => kind !== 'database-scalar' && used.has(name));
}

/** Definitions of the custom scalars and enums: a remote schema may have equal ones. */
export function sharedCustomTypes(types: TypesStage): SharedTypeDefinitions {
  return new Map(
    ownTypes(types).flatMap((type): readonly (readonly [string, string])[] => {
      if (type.kind === 'scalar') return [[type.name, SCALAR_DEFINITION]];
      return type.kind === 'enum' ? [[type.name, enumDefinition(type.values.map(({ value }) => value))]] : [];
    }),
  );
}

/** An asynchronous action has a result type with its name. */
function namesOfAction(name: string, kind: Action['definition']['kind']): ProducedNames {
  return {
    roots: ROOTS[kind].map((root) => ({ root, namespace: null, name, givesWay: false })),
    types: kind === 'asynchronous' ? [name] : [],
  };
}

/** Returns the description of an action or of the custom types by their id. */
export function nameConflictOfAction(metadata: Metadata, id: string): ObjectDescription | null {
  if (id === objectId.customTypes()) return describeCustomTypes(metadata.customTypes);
  for (const action of metadata.actions.values()) if (id === objectId.action(action.name)) return describeAction(action);
  return null;
}

export interface ActionsScope {
  readonly targets: JoinableTargets;
  readonly plan: InheritancePlan;
  readonly names: NamesResult;
  readonly environment: EnvironmentVariables;
}

export function resolveActions(
  metadata: Metadata,
  types: TypesStage,
  { targets, plan, names, environment }: ActionsScope,
  before: ActionsStage | undefined,
): ActionsStage {
  const inconsistencies: Inconsistency[] = [];
  const isNameless = names.conflicts.has(objectId.customTypes());
  const own: CustomTypesInfo = isNameless ? new Map() : types.info;
  const relationships = resolveCustomRelationships({ ...types, info: own }, targets, before?.relationships);
  const reasons = [...types.reasons, ...relationships.reasons];
  if (reasons.length > 0 && !isNameless) inconsistencies.push(customTypesRecord(metadata.customTypes, reasons, targets));

  const related = new Set(metadata.customTypes.objects.filter((each) => each.relationships.length > 0).map(({ name }) => name));
  const actions = new Map<string, ActionStage>();
  const infos = new Map<string, NonNullable<ActionStage['info']>>();
  for (const action of metadata.actions.values()) {
    const scope = { types: own, scalarOf: types.scalarOf, related, environment, plan };
    const stage = resolveAction(action, scope, before?.actions.get(action.name));
    actions.set(action.name, stage);
    inconsistencies.push(...stage.inconsistencies);
    if (stage.info !== null && !names.conflicts.has(objectId.action(action.name))) infos.set(action.name, stage.info);
  }
  return {
    customTypes: sameTypes(before?.customTypes, withScalars(own, infos, types.scalarOf)),
    relationships,
    actions,
    infos: sameInfos(before?.infos, infos),
    inconsistencies,
  };
}

/** Adds the database scalars that fields and actions refer to. */
function withScalars(own: CustomTypesInfo, actions: SchemaCache['actions'], scalarOf: ScalarFinder): CustomTypesInfo {
  const all = new Map(own);
  const add = (name: string): void => {
    const scalar = all.has(name) || PLAIN_SCALARS.has(name) ? null : scalarOf(name);
    if (scalar !== null) all.set(name, scalar);
  };
  for (const type of own.values()) {
    if (type.kind === 'object' || type.kind === 'input-object') for (const field of type.fields.values()) add(namedTypeIn(field.type));
  }
  for (const { definition } of actions.values()) for (const name of scalarsNamed(definition)) add(name);
  return all;
}

/** Returns the previous types if they are equal, because role schemas are reused as long as they are identical. */
function sameTypes(before: CustomTypesInfo | undefined, after: CustomTypesInfo): CustomTypesInfo {
  if (before === undefined || before.size !== after.size) return after;
  for (const [name, type] of after) if (!isSame(before.get(name), type)) return after;
  return before;
}

function isSame(before: CustomTypeInfo | undefined, after: CustomTypeInfo): boolean {
  if (before === undefined || before.kind !== after.kind) return false;
  switch (after.kind) {
    case 'database-scalar':
      return isSameScalar(before as DatabaseScalarInfo, after);
    case 'scalar':
      return before.description === after.description;
    case 'enum':
      return before.description === after.description && (before as typeof after).values === after.values;
    case 'input-object':
      return before.description === after.description && (before as typeof after).fields === after.fields;
    case 'object': {
      const fields = [...(before as typeof after).fields.values()];
      return (
        before.description === after.description &&
        fields.length === after.fields.size &&
        [...after.fields.values()].every((field, i) => field === fields[i])
      );
    }
  }
}

function isSameScalar(a: DatabaseScalarInfo, b: DatabaseScalarInfo): boolean {
  return (
    a.types === b.types &&
    a.namingConvention === b.namingConvention &&
    a.type.schema === b.type.schema &&
    a.type.name === b.type.name &&
    a.type.kind === b.type.kind
  );
}

function sameInfos(before: SchemaCache['actions'] | undefined, after: SchemaCache['actions']): SchemaCache['actions'] {
  if (before === undefined || before.size !== after.size) return after;
  return [...after].every(([name, info]) => before.get(name) === info) ? before : after;
}
