/** Finds the source or table that an operation names, with the errors that all operations share. */
import { nameKey, type QualifiedName } from '../catalog/catalog.ts';
import type { Backend, Source } from '../backend/backend.ts';
import { SvcError } from '../errors/svc-error.ts';
import { defaulted, nonEmptyText } from '../metadata/codec.ts';
import { isAboutVariables, SET_VARIABLES } from '../metadata/environment-template.ts';
import { updateTable } from '../metadata/edit.ts';
import { requireSourceOfKind, requireTable } from '../metadata/lookup.ts';
import type { Metadata, SourceMetadata } from '../metadata/metadata.ts';
import { DEFAULT_SOURCE } from '../metadata/source.ts';
import type { TableMetadata } from '../metadata/table.ts';
import { objectId } from '../schema-cache/object-id.ts';
import type { Snapshot } from '../state/snapshot.ts';
import { ROOT } from '../util/path.ts';

/** Argument `source` of every operation on tables and functions. */
export const sourceArgument = defaulted(nonEmptyText, () => DEFAULT_SOURCE);

/** Returns whether a source of the metadata is not in the schema cache, because it is inconsistent. */
export function isUnusable(snapshot: Snapshot, source: string): boolean {
  return snapshot.metadata.sources.has(source) && !snapshot.cache.sources.has(source);
}

/** Returns the error for a source that is not open. The message is fixed, so the reason is a suggestion. */
export function unusable(name: string, { cache }: Snapshot): SvcError {
  const reason = cache.inconsistencies.find((each) => each.objectId === objectId.source(name))?.reason;
  const remedy =
    reason !== undefined && isAboutVariables(reason)
      ? SET_VARIABLES
      : 'get_inconsistent_metadata has the details. Correct the database or the metadata, then run reload_metadata.';
  const remedies = [...(reason === undefined ? [] : [reason]), remedy];
  return new SvcError('unexpected', `source with name "${name}" is inconsistent`, { status: 400, remedies });
}

/** @throws SvcError not-exists if it is absent or of another kind; unexpected if it is unusable */
export function targetSource(metadata: Metadata, name: string, backend: Backend, snapshot: Snapshot): SourceMetadata {
  const source = requireSourceOfKind(metadata, name, backend.kind);
  if (isUnusable(snapshot, name)) throw unusable(name, snapshot);
  return source;
}

/** Returns the target with the table name that the open source uses. */
export function namedInSource<T extends TableTarget>(target: T, { kind }: Pick<Backend, 'kind'>, { cache }: Snapshot): T {
  const own = cache.sources.get(target.source)?.backend;
  if (own?.kind !== kind) return target;
  return { ...target, table: own.tableName.decode(own.tableName.encode(target.table), ROOT) };
}

/** Returns the open connection of a source. @throws SvcError as `targetSource` */
export function requireOpenSource(name: string, backend: Backend, snapshot: Snapshot): Source {
  targetSource(snapshot.metadata, name, backend, snapshot);
  const source = snapshot.connections.get(name);
  if (source === undefined) throw unusable(name, snapshot);
  return source;
}

export interface TableTarget {
  readonly source: string;
  readonly table: QualifiedName;
}

/** @throws SvcError as `targetSource`, and not-exists for a table that is not tracked */
export function targetTable(metadata: Metadata, { source, table }: TableTarget, backend: Backend, snapshot: Snapshot): TableMetadata {
  return requireTable(targetSource(metadata, source, backend, snapshot), table, backend);
}

/** Edits one tracked table. @throws SvcError as `targetTable` */
export function editTargetTable(
  metadata: Metadata,
  target: TableTarget,
  backend: Backend,
  snapshot: Snapshot,
  edit: (table: TableMetadata) => TableMetadata,
): Metadata {
  targetTable(metadata, target, backend, snapshot);
  return updateTable(metadata, target.source, nameKey(target.table), edit);
}
