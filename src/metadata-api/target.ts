/** The source, table or function that an operation names, with the refusals that all of them share. */
import { nameKey, type QualifiedName } from '../catalog/catalog.ts';
import type { Backend, Source } from '../backend/backend.ts';
import { SvcError } from '../errors/svc-error.ts';
import { defaulted, nonEmptyText } from '../metadata/codec.ts';
import { updateTable } from '../metadata/edit.ts';
import { requireSourceOfKind, requireTable } from '../metadata/lookup.ts';
import type { Metadata, SourceMetadata } from '../metadata/metadata.ts';
import { DEFAULT_SOURCE } from '../metadata/source.ts';
import type { TableMetadata } from '../metadata/table.ts';
import type { Snapshot } from '../state/snapshot.ts';
import { ROOT } from '../util/path.ts';

/** The argument `source` of every operation on tables and functions. */
export const sourceArgument = defaulted(nonEmptyText, () => DEFAULT_SOURCE);

/** A source of the current state that the schema cache had to leave out: it cannot be worked with. */
export function isUnusable(snapshot: Snapshot, source: string): boolean {
  return snapshot.metadata.sources.has(source) && !snapshot.cache.sources.has(source);
}

/** The refusal of what would have to ask a source that cannot be opened. */
export function unusable(name: string): SvcError {
  return new SvcError('unexpected', `source with name "${name}" is inconsistent`, { status: 400 });
}

/** @throws SvcError not-exists when it is absent or of another kind; unexpected when it is unusable */
export function targetSource(metadata: Metadata, name: string, backend: Backend, snapshot: Snapshot): SourceMetadata {
  const source = requireSourceOfKind(metadata, name, backend.kind);
  if (isUnusable(snapshot, name)) throw unusable(name);
  return source;
}

/** The target under the name that the open source has for its table. */
export function namedInSource<T extends TableTarget>(target: T, { kind }: Pick<Backend, 'kind'>, { cache }: Snapshot): T {
  const own = cache.sources.get(target.source)?.backend;
  if (own?.kind !== kind) return target;
  return { ...target, table: own.tableName.decode(own.tableName.encode(target.table), ROOT) };
}

/** The open connection of a source of the current state. @throws SvcError as `targetSource` */
export function requireOpenSource(name: string, backend: Backend, snapshot: Snapshot): Source {
  targetSource(snapshot.metadata, name, backend, snapshot);
  const source = snapshot.connections.get(name);
  if (source === undefined) throw unusable(name);
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

/** The metadata with one tracked table edited. @throws SvcError as `targetTable` */
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
