/** Copies, renames or deletes a role everywhere in the metadata. */
import { DEFAULT_KIND } from './kinds.generated.ts';
import { isList, isObject, type Json, type JsonObject, objectsIn } from './json.ts';
import type { Step } from './steps.ts';
import { membersOf, PERMISSION_OPERATIONS, type TableAddress, tableSteps, withMember } from './table-entry.ts';

/** `to` is the name of the copy, or the new name. */
export type RoleChange = { readonly kind: 'copy' | 'rename'; readonly to: string } | { readonly kind: 'drop' };

export interface RoleSteps {
  /** Tables where the role has a permission. */
  readonly tables: readonly TableAddress[];
  /** Returns the steps for the entries of `tables` and for everything else. */
  steps(entries: readonly (JsonObject | null)[]): readonly Step[];
  /** Steps that undo the change; undefined if only entries of tables change. */
  readonly inverse: readonly Step[] | undefined;
}

/** Steps with their inverse, which has to run in reverse order. */
interface Pair {
  readonly steps: readonly Step[];
  readonly back: readonly Step[];
}

/**
 * @param metadata the whole document
 * @throws Error if an inherited role would be left with one parent
 */
export function roleSteps(metadata: JsonObject, role: string, change: RoleChange): RoleSteps {
  const tables: { readonly address: TableAddress; readonly entry: JsonObject }[] = [];
  const pairs: Pair[] = [];
  for (const source of objectsIn(metadata['sources'])) {
    const [name, kind] = [String(source['name']), String(source['kind'] ?? DEFAULT_KIND)];
    for (const entry of objectsIn(source['tables'])) {
      if (PERMISSION_OPERATIONS.some((operation) => membersOf(entry, `${operation}_permissions`).some((each) => each['role'] === role)))
        tables.push({ address: { source: name, kind, table: entry['table'] ?? null }, entry });
    }
    for (const tracked of objectsIn(source['functions'])) {
      const about: JsonObject = { source: name, function: tracked['function'] ?? null };
      pairs.push(
        ...members(tracked['permissions'], role, change, {
          add: (of) => ({ type: `${kind}_create_function_permission`, args: { ...about, role: of } }),
          drop: (of) => ({ type: `${kind}_drop_function_permission`, args: { ...about, role: of } }),
        }),
      );
    }
  }
  for (const action of objectsIn(metadata['actions'])) {
    const about: JsonObject = { action: action['name'] ?? null };
    pairs.push(
      ...members(action['permissions'], role, change, {
        add: (of) => ({ type: 'create_action_permission', args: { ...about, role: of } }),
        drop: (of) => ({ type: 'drop_action_permission', args: { ...about, role: of } }),
      }),
    );
  }
  for (const remote of objectsIn(metadata['remote_schemas'])) {
    const about: JsonObject = { remote_schema: remote['name'] ?? null };
    pairs.push(
      ...members(remote['permissions'], role, change, {
        add: (of, member) => ({ type: 'add_remote_schema_permissions', args: { ...about, ...member, role: of } }),
        drop: (of) => ({ type: 'drop_remote_schema_permissions', args: { ...about, role: of } }),
      }),
    );
  }
  pairs.push(
    ...ofInheritedRoles(objectsIn(metadata['inherited_roles']), role, change),
    ...ofAllowList(objectsIn(metadata['allowlist']), role, change),
  );
  pairs.push(...ofIntrospection(metadata['graphql_schema_introspection'], role, change), ...ofLimits(metadata['api_limits'], role, change));
  const next = (entry: JsonObject): JsonObject => entryWith(entry, role, change);
  return {
    tables: tables.map(({ address }) => address),
    steps: (entries) => [
      ...tables.flatMap(({ address }, index) => {
        const entry = entries[index] ?? null;
        return entry === null ? [] : tableSteps(address, entry, next(entry));
      }),
      ...pairs.flatMap(({ steps }) => steps),
    ],
    inverse:
      pairs.length === 0
        ? undefined
        : [
            ...pairs.toReversed().flatMap(({ back }) => back),
            ...tables.flatMap(({ address, entry }) => tableSteps(address, next(entry), entry)),
          ],
  };
}

function entryWith(entry: JsonObject, role: string, change: RoleChange): JsonObject {
  let after = entry;
  for (const operation of PERMISSION_OPERATIONS) {
    const key = `${operation}_permissions`;
    const member = membersOf(after, key).find((each) => each['role'] === role);
    if (member === undefined) continue;
    if (change.kind !== 'drop') after = withMember(after, key, 'role', change.to, { ...member, role: change.to });
    if (change.kind !== 'copy') after = withMember(after, key, 'role', role, null);
  }
  return after;
}

/** Steps for a list of permissions whose members are added and dropped as a whole. */
function members(
  list: Json | undefined,
  role: string,
  change: RoleChange,
  make: { add(role: string, member: JsonObject): Step; drop(role: string): Step },
): readonly Pair[] {
  const member = objectsIn(list).find((each) => each['role'] === role);
  if (member === undefined) return [];
  return [
    {
      steps: [...(change.kind === 'copy' ? [] : [make.drop(role)]), ...(change.kind === 'drop' ? [] : [make.add(change.to, member)])],
      back: [...(change.kind === 'drop' ? [] : [make.drop(change.to)]), ...(change.kind === 'copy' ? [] : [make.add(role, member)])],
    },
  ];
}

function ofInheritedRoles(inherited: readonly JsonObject[], role: string, change: RoleChange): readonly Pair[] {
  const add = (name: string, parents: readonly string[]): Step => ({
    type: 'add_inherited_role',
    args: { role_name: name, role_set: [...parents] },
  });
  const drop = (name: string): Step => ({ type: 'drop_inherited_role', args: { role_name: name } });
  return inherited.flatMap((each): Pair[] => {
    const name = String(each['role_name']);
    const parents = texts(each['role_set']);
    if (name === role) {
      return [
        {
          steps: [...(change.kind === 'copy' ? [] : [drop(name)]), ...(change.kind === 'drop' ? [] : [add(change.to, parents)])],
          back: [...(change.kind === 'drop' ? [] : [drop(change.to)]), ...(change.kind === 'copy' ? [] : [add(name, parents)])],
        },
      ];
    }
    if (!parents.includes(role) || change.kind === 'copy') return [];
    const after = replaced(parents, role, change);
    if (after.length < 2) throw new Error(`The role ${name} inherits from ${parents.join(' and ')}. Change or delete it first.`);
    return [{ steps: [drop(name), add(name, after)], back: [drop(name), add(name, parents)] }];
  });
}

function ofAllowList(entries: readonly JsonObject[], role: string, change: RoleChange): readonly Pair[] {
  return entries.flatMap(({ collection = null, scope }): Pair[] => {
    const roles = isObject(scope) ? texts(scope['roles']) : [];
    if (!roles.includes(role)) return [];
    const set = (list: readonly string[]): Step => ({
      type: 'update_scope_of_collection_in_allowlist',
      args: { collection, scope: { global: false, roles: [...list] } },
    });
    const after = replaced(roles, role, change);
    if (after.length > 0) return [{ steps: [set(after)], back: [set(roles)] }];
    const add: Step = { type: 'add_collection_to_allowlist', args: { collection, scope: scope ?? null } };
    return [{ steps: [{ type: 'drop_collection_from_allowlist', args: { collection } }], back: [add] }];
  });
}

function ofIntrospection(options: Json | undefined, role: string, change: RoleChange): readonly Pair[] {
  const roles = isObject(options) ? texts(options['disabled_for_roles']) : [];
  if (!roles.includes(role)) return [];
  const set = (list: readonly string[]): Step => ({ type: 'set_graphql_introspection_options', args: { disabled_for_roles: [...list] } });
  return [{ steps: [set(replaced(roles, role, change))], back: [set(roles)] }];
}

function ofLimits(limits: Json | undefined, role: string, change: RoleChange): readonly Pair[] {
  if (!isObject(limits)) return [];
  let isAffected = false;
  const after = Object.entries(limits).map(([key, limit]): [string, Json] => {
    const perRole = isObject(limit) ? limit['per_role'] : undefined;
    const own = isObject(perRole) ? perRole[role] : undefined;
    if (!isObject(limit) || !isObject(perRole) || own === undefined) return [key, limit];
    isAffected = true;
    const { [role]: _, ...others } = perRole;
    return [
      key,
      {
        ...limit,
        per_role: {
          ...others,
          ...(change.kind === 'copy' ? { [role]: own } : {}),
          ...(change.kind === 'drop' ? {} : { [change.to]: own }),
        },
      },
    ];
  });
  if (!isAffected) return [];
  return [{ steps: [{ type: 'set_api_limits', args: Object.fromEntries(after) }], back: [{ type: 'set_api_limits', args: limits }] }];
}

function replaced(roles: readonly string[], role: string, change: RoleChange): readonly string[] {
  const others = roles.filter((each) => each !== role);
  return change.kind === 'drop' ? others : change.kind === 'rename' ? [...others, change.to] : [...roles, change.to];
}

function texts(json: Json | undefined): readonly string[] {
  return isList(json) ? json.map(String) : [];
}
