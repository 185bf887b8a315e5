/**
 * All permissions of one table. Equal definitions of several roles share one resolved object: with many roles these are most of the memory,
 * and role schemas are recognised as equal at once.
 */
import { SvcError } from '../../errors/svc-error.ts';
import type { Codec } from '../../metadata/codec.ts';
import {
  deletePermissionCodec,
  insertPermissionCodec,
  type PermissionEntry,
  type PermissionKind,
  selectPermissionCodec,
  updatePermissionCodec,
} from '../../metadata/permission.ts';
import type { TableMetadata } from '../../metadata/table.ts';
import type { Json } from '../../util/json.ts';
import { Defect, fromDefect } from '../inconsistency.ts';
import type { Inconsistency, RolePermissions, TableCore } from '../schema-cache.ts';
import { describePermission } from './describe.ts';
import { type PermissionScope, resolveDelete, resolveInsert, resolveSelect, resolveUpdate } from './permission.ts';
import {
  type LookupRecord,
  type StageLookups,
  RecordedLookups,
  printTable,
  type StageSource,
  lookupsUnchanged,
  type TableFields,
} from './lookups.ts';
import { rejectUnknownKeys } from './unknown-keys.ts';

export interface PermissionsResult {
  readonly core: TableCore;
  readonly fields: TableFields;
  readonly metadata: TableMetadata;
  readonly recorded: readonly LookupRecord[];
  /** Permissions by role, without inherited ones. */
  readonly permissions: ReadonlyMap<string, RolePermissions>;
  readonly inconsistencies: readonly Inconsistency[];
}

const KINDS = ['select', 'insert', 'update', 'delete'] as const;

function sameDefinitions(a: TableMetadata, b: TableMetadata): boolean {
  return a === b || KINDS.every((kind) => a[`${kind}Permissions`] === b[`${kind}Permissions`]);
}

/** @param previous result for the same table: permissions with the same definition objects are reused, for each role */
export function resolvePermissions(
  source: StageSource,
  core: TableCore,
  fields: TableFields,
  metadata: TableMetadata,
  results: StageLookups,
  previous: PermissionsResult | undefined,
): PermissionsResult {
  const usable =
    previous?.fields === fields && previous.core.catalog === core.catalog && lookupsUnchanged(previous.recorded, results)
      ? previous
      : undefined;
  if (usable !== undefined && sameDefinitions(usable.metadata, metadata)) return usable;

  const lookups = new RecordedLookups(results, usable?.recorded);
  const scope: PermissionScope = { source, table: core.catalog, fields, lookups };
  const inconsistencies: Inconsistency[] = [];
  const drafts = new Map<string, Draft>();

  const each = <P extends object, R extends object>(
    kind: PermissionKind,
    entries: ReadonlyMap<string, PermissionEntry<P>>,
    codec: Codec<P>,
    resolve: (permission: P, role: string) => R,
  ): void => {
    const resolvedByKey = new Map<string, R>();
    const before = usable?.metadata[`${kind}Permissions`] as ReadonlyMap<string, PermissionEntry<P>> | undefined;
    for (const entry of entries.values()) {
      try {
        rejectUnknownKeys(entry);
        if (entry.role === 'admin') throw new Defect('cannot define permission for admin role');
        const key = shareKey(entry.permission);
        const reused = before?.get(entry.role)?.permission === entry.permission ? usable?.permissions.get(entry.role)?.[kind] : undefined;
        const resolved = (reused as R | undefined) ?? resolvedByKey.get(key) ?? resolve(entry.permission, entry.role);
        resolvedByKey.set(key, resolved);
        const draft = drafts.get(entry.role) ?? {};
        draft[kind] = resolved;
        drafts.set(entry.role, draft);
      } catch (error) {
        const defect = asDefect(error);
        const object = describePermission(source, core.name, kind, entry.role, codec.encode(entry.permission), entry.comment);
        inconsistencies.push(
          fromDefect(object, `in table "${printTable(source, core.name)}": in permission for role "${entry.role}": `, defect),
        );
      }
    }
  };
  each('select', metadata.selectPermissions, selectPermissionCodec, (permission, role) => resolveSelect(scope, role, permission));
  each('insert', metadata.insertPermissions, insertPermissionCodec, (permission) => resolveInsert(scope, permission));
  each('update', metadata.updatePermissions, updatePermissionCodec, (permission) => resolveUpdate(scope, permission));
  each('delete', metadata.deletePermissions, deletePermissionCodec, (permission) => resolveDelete(scope, permission));

  return { core, fields, metadata, recorded: lookups.recorded, permissions: share(drafts, usable?.permissions), inconsistencies };
}

type Draft = { [K in PermissionKind]?: object };

/** Roles with the same four permissions share one object; a role without changes keeps its object. */
function share(
  drafts: ReadonlyMap<string, Draft>,
  before: ReadonlyMap<string, RolePermissions> | undefined,
): ReadonlyMap<string, RolePermissions> {
  const known: RolePermissions[] = [];
  const shared = new Map<string, RolePermissions>();
  for (const [role, draft] of drafts) {
    const hasSamePermissions = (each: RolePermissions | undefined): boolean =>
      each !== undefined && KINDS.every((kind) => each[kind] === draft[kind]);
    const own = before?.get(role);
    const same = hasSamePermissions(own) ? (own as RolePermissions) : (known.find(hasSamePermissions) ?? (draft as RolePermissions));
    if (!known.includes(same)) known.push(same);
    shared.set(role, same);
  }
  return shared;
}

/** Returns a text that is equal for equal definitions. */
function shareKey(permission: object): string {
  const presets = 'set' in permission ? [...(permission.set as ReadonlyMap<string, Json>)] : [];
  return JSON.stringify(permission) + (presets.length === 0 ? '' : JSON.stringify(presets));
}

/** Returns the defect of a definition; rethrows all other errors. */
function asDefect(error: unknown): Defect {
  if (error instanceof Defect) return error;
  if (error instanceof SvcError) return new Defect(error.message);
  throw error;
}
