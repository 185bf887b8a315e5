/** Finds objects in the metadata, and throws the errors that all operations share if they do not exist. */
import { nameKey, type QualifiedName } from '../catalog/catalog.ts';
import { SvcError } from '../errors/svc-error.ts';
import { type Path, ROOT } from '../util/path.ts';
import type { FunctionMetadata } from './function.ts';
import type { KindCodecs } from './kinds.ts';
import type { Metadata, SourceMetadata } from './metadata.ts';
import type { TableMetadata } from './table.ts';
import { printName } from './table-name.ts';

/** @throws SvcError `not-exists` */
export function requireSource(metadata: Metadata, name: string, path: Path = ROOT): SourceMetadata {
  const source = metadata.sources.get(name);
  if (source === undefined) throw new SvcError('not-exists', `source with name "${name}" does not exist`, { path });
  return source;
}

/** Finds a source that must be of the kind that the operation's prefix names. @throws SvcError `not-exists` */
export function requireSourceOfKind(metadata: Metadata, name: string, kind: string, path: Path = ROOT): SourceMetadata {
  const source = requireSource(metadata, name, path);
  if (source.kind !== kind) {
    throw new SvcError(
      'not-exists',
      `source with name "${name}" has backend type "${source.kind}" which does not match the expected type "${kind}"`,
      { path },
    );
  }
  return source;
}

/** @throws SvcError `not-exists` */
export function requireTable(
  source: SourceMetadata,
  table: QualifiedName,
  codecs: Pick<KindCodecs, 'defaultSchema'>,
  path: Path = ROOT,
): TableMetadata {
  const found = source.tables.get(nameKey(table));
  if (found === undefined) {
    throw new SvcError('not-exists', `table "${printName(table, codecs.defaultSchema)}" does not exist in source: ${source.name}`, {
      path,
    });
  }
  return found;
}

/** @throws SvcError `not-exists` */
export function requireFunction(
  source: SourceMetadata,
  name: QualifiedName,
  codecs: Pick<KindCodecs, 'defaultSchema'>,
  path: Path = ROOT,
): FunctionMetadata {
  const found = source.functions.get(nameKey(name));
  if (found === undefined) {
    throw new SvcError('not-exists', `function "${printName(name, codecs.defaultSchema)}" does not exist in source: ${source.name}`, {
      path,
    });
  }
  return found;
}
