import { ADMIN_ROLE } from '../../auth/session.ts';
import type { Backend } from '../../backend/backend.ts';
import { SvcError } from '../../errors/svc-error.ts';
import { type Codec, nonEmptyText, object, optional, required, text } from '../../metadata/codec.ts';
import { withEntry, withoutEntry } from '../../metadata/edit.ts';
import {
  deletePermissionCodec,
  insertPermissionCodec,
  type PermissionEntry,
  type PermissionKind,
  permissionKindCodec,
  selectPermissionCodec,
  updatePermissionCodec,
} from '../../metadata/permission.ts';
import type { TableMetadata } from '../../metadata/table.ts';
import { printName } from '../../metadata/table-name.ts';
import { objectId } from '../../schema-cache/object-id.ts';
import type { Json } from '../../util/json.ts';
import { define, everyKind, type OperationGroup, perKind } from '../operation.ts';
import { BREAKS_OTHERS, INCONSISTENT, refused, TABLE_ERRORS } from '../operation-error.ts';
import { editTargetTable, sourceArgument } from '../target.ts';

/** Access to one kind of permission of a table. */
interface PermissionStore<P> {
  readonly kind: PermissionKind;
  readonly codec: Codec<P>;
  readonly example: Json;
  get(table: TableMetadata): ReadonlyMap<string, PermissionEntry<P>>;
  set(table: TableMetadata, entries: ReadonlyMap<string, PermissionEntry<P>>): TableMetadata;
}

function store<P>(definition: PermissionStore<P>): PermissionStore<P> {
  return definition;
}

const insertStore = store({
  kind: 'insert',
  codec: insertPermissionCodec,
  example: { check: { author_id: 'X-Svc-User-Id' }, set: { author_id: 'X-Svc-User-Id' }, columns: ['title', 'content'] },
  get: (table) => table.insertPermissions,
  set: (table, insertPermissions) => ({ ...table, insertPermissions }),
});

const selectStore = store({
  kind: 'select',
  codec: selectPermissionCodec,
  example: { columns: ['id', 'title'], filter: { author_id: 'X-Svc-User-Id' }, limit: 100, allow_aggregations: true },
  get: (table) => table.selectPermissions,
  set: (table, selectPermissions) => ({ ...table, selectPermissions }),
});

const updateStore = store({
  kind: 'update',
  codec: updatePermissionCodec,
  example: { columns: ['title', 'content'], filter: { author_id: 'X-Svc-User-Id' }, check: null },
  get: (table) => table.updatePermissions,
  set: (table, updatePermissions) => ({ ...table, updatePermissions }),
});

const deleteStore = store({
  kind: 'delete',
  codec: deletePermissionCodec,
  example: { filter: { author_id: 'X-Svc-User-Id' } },
  get: (table) => table.deletePermissions,
  set: (table, deletePermissions) => ({ ...table, deletePermissions }),
});

const MISSING = refused('permission-denied', 'the role does not have the permission');

function missing(kind: PermissionKind, table: TableMetadata, role: string, backend: Backend): SvcError {
  return new SvcError(
    'permission-denied',
    `${kind} permission on "${printName(table.table, backend.defaultSchema)}" for role "${role}" does not exist`,
  );
}

function entryOf<P>(role: string, permission: P, comment: string | undefined): PermissionEntry<P> {
  return { role, permission, ...(comment === undefined ? {} : { comment }) };
}

/** Kinds without mutations have select permissions only. */
function allows(kind: PermissionKind): (backend: Backend) => boolean {
  return ({ capabilities }) => kind === 'select' || capabilities.mutations;
}

function createPermission<P>({ kind, codec, example, get, set }: PermissionStore<P>): OperationGroup {
  return perKind(`create_${kind}_permission`, allows(kind), (backend) =>
    define({
      args: object('CreatePermission', {
        table: required(backend.tableName),
        role: required(nonEmptyText),
        permission: required(codec),
        comment: optional(text),
        source: sourceArgument,
      }),
      changes: 'metadata',
      errors: [...TABLE_ERRORS, refused('already-exists', 'the role already has the permission, which `admin` always has'), INCONSISTENT],
      documentation: {
        summary: `Allows a role to ${kind} rows of a table, within the limits of the permission.`,
        example: { source: 'default', table: 'article', role: 'user', permission: example },
      },
      edit: (metadata, target, { snapshot }) =>
        editTargetTable(metadata, target, backend, snapshot, (table) => {
          const { role, permission, comment } = target;
          if (role === ADMIN_ROLE || get(table).has(role)) {
            throw new SvcError(
              'already-exists',
              `${kind} permission already defined on table "${printName(table.table, backend.defaultSchema)}" with role "${role}"`,
            );
          }
          return set(table, withEntry(get(table), role, entryOf(role, permission, comment)));
        }),
      edited: ({ source, table, role }) => [objectId.permission(source, table, kind, role)],
    }),
  );
}

function dropPermission<P>({ kind, get, set }: PermissionStore<P>): OperationGroup {
  return perKind(`drop_${kind}_permission`, allows(kind), (backend) =>
    define({
      args: object('DropPermission', { table: required(backend.tableName), role: required(nonEmptyText), source: sourceArgument }),
      changes: 'metadata',
      errors: [...TABLE_ERRORS, MISSING, BREAKS_OTHERS],
      documentation: {
        summary: `Removes the permission of a role to ${kind} rows of a table.`,
        example: { source: 'default', table: 'article', role: 'user' },
      },
      edit: (metadata, target, { snapshot }) =>
        editTargetTable(metadata, target, backend, snapshot, (table) => {
          if (!get(table).has(target.role)) throw missing(kind, table, target.role, backend);
          return set(table, withoutEntry(get(table), target.role));
        }),
    }),
  );
}

/** Replaces the comment of a permission; `undefined` if the role does not have it. */
function commented<P>(
  { get, set }: PermissionStore<P>,
  table: TableMetadata,
  role: string,
  comment: string | undefined,
): TableMetadata | undefined {
  const existing = get(table).get(role);
  return existing && set(table, withEntry(get(table), role, entryOf(role, existing.permission, comment)));
}

function withComment(kind: PermissionKind, table: TableMetadata, role: string, comment: string | undefined): TableMetadata | undefined {
  switch (kind) {
    case 'insert':
      return commented(insertStore, table, role, comment);
    case 'select':
      return commented(selectStore, table, role, comment);
    case 'update':
      return commented(updateStore, table, role, comment);
    case 'delete':
      return commented(deleteStore, table, role, comment);
  }
}

const setComment = perKind('set_permission_comment', everyKind, (backend) =>
  define({
    args: object('SetPermissionComment', {
      table: required(backend.tableName),
      role: required(nonEmptyText),
      permission: required(permissionKindCodec, 'type'),
      comment: optional(text),
      source: sourceArgument,
    }),
    changes: 'metadata',
    errors: [...TABLE_ERRORS, MISSING, INCONSISTENT],
    documentation: {
      summary: 'Sets the comment of a permission; null removes it.',
      example: { source: 'default', table: 'article', role: 'user', permission: 'select', comment: 'own articles only' },
    },
    edit: (metadata, target, { snapshot }) =>
      editTargetTable(metadata, target, backend, snapshot, (table) => {
        const next = withComment(target.permission, table, target.role, target.comment);
        if (next === undefined) throw missing(target.permission, table, target.role, backend);
        return next;
      }),
    edited: ({ source, table, permission, role }) => [objectId.permission(source, table, permission, role)],
  }),
);

export const permissionOperations: readonly OperationGroup[] = [
  createPermission(insertStore),
  dropPermission(insertStore),
  createPermission(selectStore),
  dropPermission(selectStore),
  createPermission(updateStore),
  dropPermission(updateStore),
  createPermission(deleteStore),
  dropPermission(deleteStore),
  setComment,
];
