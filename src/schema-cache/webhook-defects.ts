/**
 * Inconsistencies of event triggers, actions and hooks of permissions (`validate_input`) whose webhooks cannot be called, for example because
 * an environment variable is not set. Found without databases, so also for tables that do not exist yet.
 */
import type { Backend } from '../backend/backend.ts';
import { type EnvironmentVariables, variablesNotSet } from '../metadata/environment-template.ts';
import type { Codec } from '../metadata/codec.ts';
import type { Metadata } from '../metadata/metadata.ts';
import {
  type DeletePermission,
  deletePermissionCodec,
  insertPermissionCodec,
  type PermissionEntry,
  type PermissionKind,
  updatePermissionCodec,
} from '../metadata/permission.ts';
import type { TableMetadata } from '../metadata/table.ts';
import { Defect, inconsistent } from './inconsistency.ts';
import type { Inconsistency } from './schema-cache.ts';
import { unset } from './stages/action.ts';
import { describeAction, describeEventTrigger, describePermission, type NamedSource } from './stages/describe.ts';
import { checkWebhook } from './stages/webhook.ts';

export function webhookDefects(
  { sources, actions }: Pick<Metadata, 'sources' | 'actions'>,
  environment: EnvironmentVariables,
  backends: readonly Backend[],
): readonly Inconsistency[] {
  const found: Inconsistency[] = [];
  for (const source of sources.values()) {
    const backend = backends.find(({ kind }) => kind === source.kind);
    if (backend === undefined) continue;
    for (const metadata of source.tables.values()) {
      const { table, eventTriggers } = metadata;
      found.push(...hookDefects({ name: source.name, backend }, metadata, environment));
      for (const trigger of eventTriggers.values()) {
        const { webhook: url, headers, signature, requestTransform } = trigger;
        const reason = reasonOf(() => checkWebhook({ url, headers, signature, requestTransform }, environment));
        if (reason !== null) found.push(inconsistent(describeEventTrigger({ name: source.name, backend }, table, trigger), reason));
      }
    }
  }
  for (const action of actions.values()) {
    const missing = [...unset(action.definition, environment)];
    if (missing.length > 0) found.push(inconsistent(describeAction(action), `in action "${action.name}"; ${variablesNotSet(missing)}`));
  }
  return found;
}

/** The service itself fills in these variables when it calls the hook, and keeps the permission if one is not set. */
function hookDefects(source: NamedSource, metadata: TableMetadata, environment: EnvironmentVariables): readonly Inconsistency[] {
  const found: Inconsistency[] = [];
  const each = <P extends WithHook>(
    kind: PermissionKind,
    entries: ReadonlyMap<string, PermissionEntry<P>>,
    codec: Pick<Codec<P>, 'encode'>,
  ): void => {
    for (const { role, permission, comment } of entries.values()) {
      const hook = permission.validateInput?.definition;
      if (hook === undefined) continue;
      const url = { kind: 'template', text: hook.url } as const;
      const reason = reasonOf(() => checkWebhook({ url, headers: hook.headers }, environment));
      if (reason === null) continue;
      const object = describePermission(source, metadata.table, kind, role, codec.encode(permission), comment);
      found.push(inconsistent(object, `in permission for role "${role}": validate_input: ${reason}`));
    }
  };
  each('insert', metadata.insertPermissions, insertPermissionCodec);
  each('update', metadata.updatePermissions, updatePermissionCodec);
  each('delete', metadata.deletePermissions, deletePermissionCodec);
  return found;
}

type WithHook = Pick<DeletePermission, 'validateInput'>;

/** Returns the message of the defect that a check throws; `null` if it throws none. */
function reasonOf(check: () => void): string | null {
  try {
    check();
    return null;
  } catch (thrown) {
    if (thrown instanceof Defect) return thrown.message;
    throw thrown;
  }
}
