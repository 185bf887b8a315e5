/**
 * Turns inherited roles into ordinary permissions: first the valid roles with parents before children, then their permissions table by
 * table.
 */
import type { QualifiedName } from '../../catalog/catalog.ts';
import { and, type BoolExp, or, TRUE } from '../../ir/bool-exp.ts';
import type { InheritedRole } from '../../metadata/metadata.ts';
import { unknownParts } from '../../metadata/unknown-parts.ts';
import type { PermissionKind } from '../../metadata/permission.ts';
import { type Json, printJson } from '../../util/json.ts';
import { inconsistent } from '../inconsistency.ts';
import { objectId } from '../object-id.ts';
import type { Inconsistency, RolePermissions, ResolvedSelectPermission } from '../schema-cache.ts';
import { describeInheritedRole } from './describe.ts';
import { printTable, type StageSource } from './lookups.ts';

export interface InheritancePlan {
  /** Parents first. */
  readonly roles: readonly InheritedRole[];
  readonly inconsistencies: readonly Inconsistency[];
}

/** @param known roles of permissions */
export function planInheritance(
  inherited: ReadonlyMap<string, InheritedRole>,
  known: ReadonlySet<string>,
  previous: InheritancePlan | undefined,
): InheritancePlan {
  const roles: InheritedRole[] = [];
  const inconsistencies: Inconsistency[] = [];
  const state = new Map<string, 'open' | 'good' | 'bad'>();

  const visit = (name: string, trail: readonly string[]): boolean => {
    const role = inherited.get(name);
    if (role === undefined) return known.has(name);
    const seen = state.get(name);
    if (seen !== undefined && seen !== 'open') return seen === 'good';
    if (seen === 'open') {
      const cycle = closedCycle(trail.slice(trail.indexOf(name)));
      const text = `found cycle(s) in roles: ${JSON.stringify(cycle)}`;
      for (const each of new Set(cycle)) {
        const member = inherited.get(each) as InheritedRole;
        inconsistencies.push({ ...inconsistent(describe(member), text), refusal: { code: 'cyclic-dependency', message: text } });
      }
      return false;
    }
    state.set(name, 'open');
    const unknown = unknownParts(role);
    for (const { problem, key } of unknown)
      inconsistencies.push(inconsistent(describe(role), `in inherited role ${name}: ${problem} (at ${key})`));
    const missing = role.roleSet.filter((parent) => !inherited.has(parent) && !known.has(parent));
    if (missing.length > 0) {
      const reason = `in inherited role ${name}: the following parent role(s) are not found: ${missing.join(', ')} which are required to construct the inherited role: "${name}"`;
      inconsistencies.push(inconsistent(describe(role), reason));
    }
    const broken = role.roleSet.filter((parent) => !missing.includes(parent) && !visit(parent, [...trail, name]));
    const good = missing.length === 0 && broken.length === 0 && unknown.length === 0;
    if (broken.length > 0 && missing.length === 0 && !inconsistencies.some((i) => i.objectId === objectId.inheritedRole(name))) {
      inconsistencies.push(inconsistent(describe(role), `parent role "${broken[0]}" does not exist`));
    }
    state.set(name, good ? 'good' : 'bad');
    if (good) roles.push(role);
    return good;
  };
  for (const name of [...inherited.keys()].sort()) visit(name, []);

  const same =
    previous !== undefined &&
    previous.inconsistencies.length === 0 &&
    inconsistencies.length === 0 &&
    previous.roles.length === roles.length &&
    previous.roles.every((role, i) => role === roles[i]);
  return same ? previous : { roles, inconsistencies };
}

/**
 * Returns a cycle of roles, each before one of its parents. It starts and ends at the first name in alphabetical order, so that the text
 * does not depend on the order of the document or on the role that was added last.
 */
function closedCycle(members: readonly string[]): readonly string[] {
  const start = members.indexOf([...members].sort()[0] as string);
  const rotated = [...members.slice(start), ...members.slice(0, start)];
  return [...rotated, ...rotated.slice(0, 1)];
}

function describe(role: InheritedRole) {
  return describeInheritedRole(role.roleName, role.roleSet);
}

export interface Inheritance {
  readonly own: ReadonlyMap<string, RolePermissions>;
  readonly plan: InheritancePlan;
  readonly permissions: ReadonlyMap<string, RolePermissions>;
  readonly inconsistencies: readonly Inconsistency[];
}

/** Adds the permissions of inherited roles to those of one table; explicit permissions take precedence for each kind. */
export function inheritPermissions(
  source: StageSource,
  table: QualifiedName,
  own: ReadonlyMap<string, RolePermissions>,
  plan: InheritancePlan,
): Inheritance {
  if (plan.roles.length === 0) return { own, plan, permissions: own, inconsistencies: [] };
  const permissions = new Map(own);
  const inconsistencies: Inconsistency[] = [];
  for (const role of plan.roles) {
    const explicit = own.get(role.roleName) ?? {};
    const parents = role.roleSet.map((parent) => permissions.get(parent)).filter((parent) => parent !== undefined);
    const resolved: { -readonly [K in PermissionKind]?: RolePermissions[K] } = { ...explicit };
    if (resolved.select === undefined) {
      const selects = parents.map((parent) => parent.select).filter((select) => select !== undefined);
      if (selects.length > 0) resolved.select = combineSelects(selects);
    }
    for (const kind of ['insert', 'update', 'delete'] as const) {
      if (resolved[kind] !== undefined) continue;
      const permissionsOfParents = parents.map((parent) => parent[kind]).filter((permission) => permission !== undefined);
      const first = permissionsOfParents[0];
      if (first === undefined) continue;
      if (permissionsOfParents.every((other) => other === first || canonical(other) === canonical(first)))
        Object.assign(resolved, { [kind]: first });
      else inconsistencies.push(inheritanceConflict(source, table, role, kind));
    }
    if (Object.keys(resolved).length > 0) permissions.set(role.roleName, resolved);
  }
  return { own, plan, permissions, inconsistencies };
}

function combineSelects(parents: readonly ResolvedSelectPermission[]): ResolvedSelectPermission {
  if (parents.every((parent) => parent === parents[0])) return parents[0] as ResolvedSelectPermission;
  const limits = parents.map(({ limit }) => limit).filter((limit) => limit !== null);
  return {
    columns: combineCells(parents, (parent) => parent.columns),
    computedFields: combineCells(parents, (parent) => parent.computedFields),
    filter: or(...parents.map(({ filter }) => filter)),
    limit: limits.length === 0 ? null : Math.max(...limits),
    allowAggregations: parents.some(({ allowAggregations }) => allowAggregations),
    queryRootFields: unionOrAll(parents.map(({ queryRootFields }) => queryRootFields)),
    subscriptionRootFields: unionOrAll(parents.map(({ subscriptionRootFields }) => subscriptionRootFields)),
  };
}

function unionOrAll<T>(sets: readonly (ReadonlySet<T> | null)[]): ReadonlySet<T> | null {
  const union = new Set<T>();
  for (const set of sets) {
    if (set === null) return null;
    for (const item of set) union.add(item);
  }
  return union;
}

/**
 * Cells that all parents grant without a mask have none. All others are visible for rows that match the filter of a parent that grants
 * them, and that parent's own mask.
 */
function combineCells(
  parents: readonly ResolvedSelectPermission[],
  cells: (parent: ResolvedSelectPermission) => ReadonlyMap<string, BoolExp | null>,
): ReadonlyMap<string, BoolExp | null> {
  const names = new Set(parents.flatMap((parent) => [...cells(parent).keys()]));
  const combined = new Map<string, BoolExp | null>();
  for (const name of names) {
    const granting = parents.filter((parent) => cells(parent).has(name));
    const plain = granting.length === parents.length && granting.every((parent) => cells(parent).get(name) === null);
    combined.set(name, plain ? null : or(...granting.map((parent) => and(parent.filter, cells(parent).get(name) ?? TRUE))));
  }
  return combined;
}

/** Returns a text that is equal for permissions that differ only in the order of columns and operands. */
function canonical(value: unknown): string {
  if (value instanceof Set) return `{${[...value].map(canonical).sort().join()}}`;
  if (value instanceof Map)
    return `{${[...value]
      .map(([k, v]) => `${k}:${canonical(v)}`)
      .sort()
      .join()}}`;
  if (Array.isArray(value)) return `[${value.map(canonical).sort().join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? '';
  if ('kind' in value && value.kind === 'literal') return printJson((value as { json?: Json }).json ?? null);
  return `{${Object.entries(value)
    .map(([k, v]) => `${k}:${canonical(v)}`)
    .sort()
    .join()}}`;
}

function inheritanceConflict(source: StageSource, table: QualifiedName, role: InheritedRole, kind: PermissionKind): Inconsistency {
  const printed = printTable(source, table);
  const reason = `Could not inherit permission for the role '${role.roleName}' for the entity: '${kind} permission, table: ${printed}, source: '${source.name}''`;
  const type = 'inherited role permission inconsistency';
  const entity = { permission_type: kind, source: source.name, table: source.backend.tableName.encode(table) };
  return {
    objectId: objectId.inheritedPermission(role.roleName, source.name, table, kind),
    type,
    name: role.roleName,
    reason,
    definition: entity,
    record: { reason, name: role.roleName, type, entity },
    informational: true,
  };
}
