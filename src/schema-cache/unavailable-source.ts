/** What the metadata says of sources that cannot be opened: enough to tell an outage from a field that never was. */
import { ADMIN_ROLE } from '../auth/session.ts';
import type { Backend } from '../backend/backend.ts';
import type { InheritedRole, SourceMetadata } from '../metadata/metadata.ts';
import type { NamingConvention } from '../metadata/source.ts';
import type { TableMetadata } from '../metadata/table.ts';
import { namesOfFunction, namesOfTable } from './naming.ts';

export interface UnavailableSource {
  readonly metadata: SourceMetadata;
  /** Effective: the source's own, else the server's default. */
  readonly namingConvention: NamingConvention;
  readonly backend: Backend;
  readonly reason: string;
}

export interface UnavailableSources {
  readonly sources: readonly UnavailableSource[];
  readonly inheritedRoles: ReadonlyMap<string, InheritedRole>;
}

export const ALL_AVAILABLE: UnavailableSources = { sources: [], inheritedRoles: new Map() };

/** Whether a role learns the same from both. */
export function sameUnavailable(a: UnavailableSources, b: UnavailableSources): boolean {
  if (a.sources.length !== b.sources.length) return false;
  if (a.sources.length === 0) return true;
  return (
    a.inheritedRoles === b.inheritedRoles &&
    a.sources.every(({ metadata, namingConvention, reason }, i) => {
      const other = b.sources[i];
      return metadata === other?.metadata && namingConvention === other.namingConvention && reason === other.reason;
    })
  );
}

/**
 * The root fields that a role would have if its sources were there, and some that it would not have: whoever has any
 * permission on a table knows the table, so nothing is said that the role does not know.
 * @returns by field name, the namespace's where a source has one
 */
export function unavailableRoots(unavailable: UnavailableSources, role: string): ReadonlyMap<string, UnavailableSource> {
  const found = new Map<string, UnavailableSource>();
  const roles = withParents(role, unavailable.inheritedRoles);
  for (const source of unavailable.sources) {
    for (const name of rootsOf(source, roles)) if (!found.has(name)) found.set(name, source);
  }
  return found;
}

function* rootsOf(source: UnavailableSource, roles: ReadonlySet<string>): Iterable<string> {
  const { metadata, backend, namingConvention } = source;
  const { customization } = metadata;
  const style = { namingConvention, customization };
  const { defaultSchema } = backend;
  const inNamespace = customization.rootFields.namespace;
  for (const table of metadata.tables.values()) {
    if (!isKnown(table, roles)) continue;
    if (inNamespace) yield inNamespace;
    const { schema, name } = table.table;
    const { customName } = table.configuration;
    const named = {
      baseName: customName ?? (schema === defaultSchema ? name : `${schema}_${name}`),
      customName: customName !== undefined,
      configuration: table.configuration,
      enumValues: null,
      computedFields: new Map(),
    };
    if (!inNamespace) for (const root of namesOfTable(style, named).roots) yield root.name;
  }
  for (const { function: name, configuration, permissions } of metadata.functions.values()) {
    if (!roles.has(ADMIN_ROLE) && !permissions.some((role) => roles.has(role))) continue;
    if (inNamespace) yield inNamespace;
    const { customName, customRootFields } = configuration;
    for (const exposedAs of inNamespace ? [] : (['query', 'mutation'] as const)) {
      for (const root of namesOfFunction(style, { name, customName, customRootFields, exposedAs }, defaultSchema).roots) yield root.name;
    }
  }
}

function isKnown(table: TableMetadata, roles: ReadonlySet<string>): boolean {
  if (roles.has(ADMIN_ROLE)) return true;
  const permissions = [table.selectPermissions, table.insertPermissions, table.updatePermissions, table.deletePermissions];
  return permissions.some((entries) => [...roles].some((role) => entries.has(role)));
}

/** A role and all that it inherits from. */
function withParents(role: string, inherited: ReadonlyMap<string, InheritedRole>): ReadonlySet<string> {
  const roles = new Set([role]);
  // A set gives what is added during the walk too, and each role once: circles end.
  for (const each of roles) for (const parent of inherited.get(each)?.roleSet ?? []) roles.add(parent);
  return roles;
}
