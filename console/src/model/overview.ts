/** What the console knows of the whole service at once, small for any number of tables. */
import { PERMISSION_OPERATIONS, type PermissionOperation } from './table-entry.ts';
import type { Json } from './json.ts';

export interface Overview {
  readonly version: number;
  readonly roles: readonly string[];
  readonly inheritedRoles: readonly InheritedRole[];
  readonly sources: readonly SourceOverview[];
  readonly remoteSchemas: readonly string[];
  readonly actions: readonly string[];
  readonly triggers: readonly string[];
  readonly inconsistent: number;
}

export interface InheritedRole {
  readonly name: string;
  readonly parents: readonly string[];
}

export interface SourceOverview {
  readonly name: string;
  readonly kind: string;
  readonly tables: readonly TableOverview[];
  readonly functions: readonly string[];
}

export interface TableOverview {
  readonly source: string;
  readonly kind: string;
  readonly schema: string;
  readonly name: string;
  readonly relationships: number;
  readonly triggers: number;
  /** A hexadecimal digit for each role of `Overview.roles`: 1 select, 2 insert, 4 update, 8 delete. */
  readonly granted: string;
  /** As `granted`: where nothing is kept from the role. */
  readonly unrestricted: string;
}

/** How much of an operation a role may do. */
export type Access = 'none' | 'part' | 'all';

export function accessOf(overview: Overview, table: TableOverview, role: string, operation: PermissionOperation): Access {
  const at = overview.roles.indexOf(role);
  const bit = 1 << PERMISSION_OPERATIONS.indexOf(operation);
  const has = (digits: string): boolean => at >= 0 && (Number.parseInt(digits[at] ?? '0', 16) & bit) !== 0;
  return !has(table.granted) ? 'none' : has(table.unrestricted) ? 'all' : 'part';
}

/** As addresses show it: `public.album`. */
export function tableId({ schema, name }: Pick<TableOverview, 'schema' | 'name'>): string {
  return schema === '' ? name : `${schema}.${name}`;
}

/** As metadata names it. */
export function tableJson({ schema, name }: Pick<TableOverview, 'schema' | 'name'>): Json {
  return schema === '' ? { name } : { schema, name };
}

export function findTable(overview: Overview, source: string, id: string): TableOverview | undefined {
  return overview.sources.find(({ name }) => name === source)?.tables.find((table) => tableId(table) === id);
}

export function allTables(overview: Overview): readonly TableOverview[] {
  return overview.sources.flatMap(({ tables }) => tables);
}
