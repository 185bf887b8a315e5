/** Sources that cannot be opened, as the metadata describes them: enough to distinguish an outage from a field that never existed. */
import { ADMIN_ROLE } from '../auth/session.ts';
import type { Backend } from '../backend/backend.ts';
import type { InheritedRole, SourceMetadata } from '../metadata/metadata.ts';
import type { NamingConvention } from '../metadata/source.ts';
import type { TableMetadata } from '../metadata/table.ts';
import { namesOfFunction, namesOfTable, tableBaseName } from './naming.ts';

export interface UnavailableSource {
  readonly metadata: SourceMetadata;
  /** The source's own convention, or the server's default. */
  readonly namingConvention: NamingConvention;
  readonly backend: Backend;
  readonly reason: string;
}

export interface UnavailableSources {
  readonly sources: readonly UnavailableSource[];
  readonly inheritedRoles: ReadonlyMap<string, InheritedRole>;
}

/** Returns true if both have the same effect for every role. */
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
 * Returns root fields that a role would have if its sources were available, and some that it would not have. This reveals nothing: a role
 * with any permission on a table can see that the table exists.
 * @returns by field name, or by namespace if a source has one
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
    const { configuration } = table;
    const named = {
      baseName: tableBaseName(table.table, configuration, defaultSchema),
      customName: configuration.customName !== undefined,
      configuration,
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

/** Returns a role and all roles that it inherits from. */
function withParents(role: string, inherited: ReadonlyMap<string, InheritedRole>): ReadonlySet<string> {
  const roles = new Set([role]);
  // Iteration over a set includes roles that are added meanwhile, each once, so cycles end.
  for (const each of roles) for (const parent of inherited.get(each)?.roleSet ?? []) roles.add(parent);
  return roles;
}
