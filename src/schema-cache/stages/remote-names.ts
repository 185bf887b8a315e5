/**
 * Conflicts of the names of remote schemas. Names of sources take precedence. Remote schemas that claim the same name are all left out, so
 * that the result does not depend on their order. Roles see parts of the administrator's schema, so root fields that do not conflict for
 * an administrator conflict for no role. But roles may see different parts of a type that two remote schemas share: see
 * `roleTypeConflicts`.
 */
import { TIME_PARTS, TIME_UNITS } from '../../ir/select.ts';
import { BUILT_IN_SCALARS, namedRemoteType, printRemoteType, type RemoteInputValue, type RemoteType } from '../../remote-schema/model.ts';
import type { OperationRoot } from '../naming.ts';
import type { RemoteSchemaInfo } from '../schema-cache.ts';
import { rootKey } from './names.ts';
import { enumDefinition, inputDefinition, inputFieldDefinition, SCALAR_DEFINITION, type SharedTypeDefinitions } from './shared-types.ts';

export interface RemoteNameConflict {
  readonly reason: string;
  /** The root field or type. */
  readonly name: string;
  /** True if a source has the name. */
  readonly withSource: boolean;
}

/** Maximum conflicts to report for one remote schema. */
const MAX_REPORTED = 10;
/** Enums of every schema, which remote servers of this product have as well. */
const COMMON: Readonly<Record<string, readonly string[]>> = {
  order_by: ['asc', 'asc_nulls_first', 'asc_nulls_last', 'desc', 'desc_nulls_first', 'desc_nulls_last'],
  cursor_ordering: ['ASC', 'DESC'],
  aggregate_time_unit: TIME_UNITS,
  aggregate_time_part: TIME_PARTS,
};

/**
 * @param ownerOf returns the owner of a name: the id of an object in a source, '' for names of every schema
 * @param shared definitions of types that a remote schema may have as well: an equal definition is the same type
 * @returns conflicts by remote schema
 */
export function remoteNameConflicts(
  remotes: readonly RemoteSchemaInfo[],
  ownerOf: (key: string) => string | undefined,
  shared: SharedTypeDefinitions,
): ReadonlyMap<string, readonly RemoteNameConflict[]> {
  const found = new Map<string, RemoteNameConflict[]>();
  const report = (remote: string, conflict: RemoteNameConflict): void => {
    const known = found.get(remote) ?? [];
    if (known.length < MAX_REPORTED && !known.some(({ reason }) => reason === conflict.reason)) known.push(conflict);
    found.set(remote, known);
  };
  const claims = remotes.map((info) => ({ info, roots: [...rootsOf(info)], types: typesOf(info) }));
  for (const { info, roots, types } of claims) {
    for (const { key, name } of roots) {
      if (ownerOf(key) !== undefined)
        report(info.name, { reason: `Field cannot be overwritten by remote field '${name}'`, name, withSource: true });
    }
    for (const [name, type] of types) {
      const known = shared.get(name);
      const isTaken = known === undefined ? ownerOf(name) !== undefined && !isCommon(name, type) : known !== definitionOf(type, info);
      if (isTaken)
        report(info.name, {
          reason: `Conflicting types: '${name}' is also a type of a source or of the custom types`,
          name,
          withSource: true,
        });
    }
  }
  const others = claims.filter(({ info }) => !found.has(info.name));
  if (others.length < 2) return found;

  const owners = new Map<string, RemoteSchemaInfo>();
  const ownerOfType = new Map<string, { readonly info: RemoteSchemaInfo; readonly type: RemoteType }>();
  for (const { info, roots, types } of others) {
    for (const { key, name } of roots) {
      const rival = owners.get(key);
      if (rival === undefined) owners.set(key, info);
      else for (const each of [rival, info]) report(each.name, { reason: `Duplicate remote field '${name}'`, name, withSource: false });
    }
    for (const [name, type] of types) {
      const rival = ownerOfType.get(name);
      if (rival === undefined) ownerOfType.set(name, { info, type });
      else if (definitionOf(rival.type, rival.info) !== definitionOf(type, info)) {
        const reason = `Conflicting types: '${name}' differs between the remote schemas '${rival.info.name}' and '${info.name}'`;
        for (const each of [rival.info, info]) report(each.name, { reason, name, withSource: false });
      }
    }
  }
  return found;
}

export interface RoleTypeConflict {
  /** Names of the remote schemas, in order. */
  readonly remotes: readonly string[];
  readonly role: string;
  readonly reason: string;
}

/**
 * Finds types of which roles see different parts in several remote schemas.
 * @param remotes remote schemas without conflicts for an administrator, with their permissions
 */
export function roleTypeConflicts(remotes: readonly RemoteSchemaInfo[]): readonly RoleTypeConflict[] {
  const conflicts: RoleTypeConflict[] = [];
  const owners = new Map<string, RemoteSchemaInfo[]>();
  for (const info of remotes) {
    for (const name of typesOf(info).keys()) {
      const known = owners.get(name);
      if (known === undefined) owners.set(name, [info]);
      else known.push(info);
    }
  }
  const shared = [...owners].filter(([, infos]) => infos.length > 1);
  if (shared.length === 0) return [];
  const roles = new Set(remotes.flatMap(({ permissions }) => [...(permissions?.keys() ?? [])]));
  for (const role of roles) {
    const seen = remotes.flatMap((info) => {
      const model = info.permissions?.get(role);
      return model === undefined ? [] : [{ info, types: typesOf({ ...info, model }) }];
    });
    if (seen.length < 2) continue;
    for (const [name] of shared) {
      const having = seen.filter(({ types }) => types.has(name));
      const definitions = new Set(having.map(({ info, types }) => definitionOf(types.get(name) as RemoteType, info)));
      if (definitions.size < 2) continue;
      const names = having.map(({ info }) => info.name);
      const quotedNames = names.map((each) => `'${each}'`).join(' and ');
      conflicts.push({
        remotes: names,
        role,
        reason: `Conflicting types: for the role, '${name}' differs between the remote schemas ${quotedNames}`,
      });
    }
  }
  return conflicts;
}

function* rootsOf({ model, names }: RemoteSchemaInfo): Iterable<{ readonly key: string; readonly name: string }> {
  for (const [root, typeName] of [
    ['query', model.query],
    ['mutation', model.mutation],
  ] as const satisfies readonly (readonly [OperationRoot, string | null])[]) {
    const type = typeName === null ? undefined : model.types.get(typeName);
    if (type?.kind !== 'object') continue;
    const own = names.namespace === null ? [...type.fields.keys()].map((field) => names.field(type.name, field)) : [names.namespace];
    for (const name of own) yield { key: rootKey(root, null, name), name };
  }
}

/** Returns the types that are part of our schema, by our names. */
function typesOf(info: RemoteSchemaInfo): ReadonlyMap<string, RemoteType> {
  const { model, names } = info;
  const hidden = names.namespace === null ? hiddenRoots(info) : new Set<string>();
  const types = [...model.types.values()].filter(({ name }) => !BUILT_IN_SCALARS.has(name) && !hidden.has(name));
  return new Map(types.map((type) => [names.type(type.name), type]));
}

/** The fields of root types are added to our root types; a root type is part of our schema only if a field has it. */
function hiddenRoots({ model }: RemoteSchemaInfo): ReadonlySet<string> {
  const hidden = new Set([model.query, model.mutation, model.subscription].filter((name) => name !== null));
  for (const type of model.types.values()) {
    if (type.kind !== 'object' && type.kind !== 'interface') continue;
    for (const field of type.fields.values()) hidden.delete(namedRemoteType(field.type));
  }
  return hidden;
}

function isCommon(name: string, type: RemoteType): boolean {
  const values = COMMON[name];
  return values !== undefined && type.kind === 'enum' && [...type.values.keys()].sort().join() === values.join();
}

/** Returns a text that is equal for equivalent definitions; descriptions may differ. */
function definitionOf(type: RemoteType, { names }: RemoteSchemaInfo): string {
  const inputs = (values: ReadonlyMap<string, RemoteInputValue>): readonly string[] =>
    [...values.values()]
      .filter(({ preset }) => preset === undefined)
      .map((value) => inputFieldDefinition(value.name, renamed(value), value.default));
  const renamed = ({ type: of }: Pick<RemoteInputValue, 'type'>): string => {
    const name = namedRemoteType(of);
    return printRemoteType(of).replace(name, () => names.type(name));
  };
  switch (type.kind) {
    case 'scalar':
      return SCALAR_DEFINITION;
    case 'enum':
      return enumDefinition(type.values.keys());
    case 'input-object':
      return inputDefinition(inputs(type.fields));
    case 'union':
      return JSON.stringify(['union', type.members.map(names.type).sort()]);
    case 'object':
    case 'interface': {
      const fields = [...type.fields.values()].map((field) => [
        names.field(type.name, field.name),
        [...inputs(field.args)].sort(),
        renamed(field),
      ]);
      const members = type.kind === 'interface' ? type.members.map(names.type).sort() : [];
      return JSON.stringify([
        type.kind,
        fields.map((field) => JSON.stringify(field)).sort(),
        type.interfaces.map(names.type).sort(),
        members,
      ]);
    }
  }
}
