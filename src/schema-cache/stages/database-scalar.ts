/** Scalars of databases by their GraphQL names. */
import type { Backend } from '../../backend/backend.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import type { NamingConvention } from '../../metadata/source.ts';
import type { DatabaseScalarInfo } from '../action-info.ts';
import { sharedTypeName } from '../naming.ts';

/** A source that provides scalars, whether it is available or not. */
export interface ScalarSource {
  readonly backend: Backend;
  readonly namingConvention: NamingConvention;
  /** `null` if the source is unavailable. */
  readonly catalog: Catalog | null;
}

export type ScalarFinder = (name: string) => DatabaseScalarInfo | null;

/** @param sources the first one with a scalar of the name takes precedence */
export function scalarFinder(sources: readonly ScalarSource[]): ScalarFinder {
  const known = new Map<string, DatabaseScalarInfo | null>();
  return (name) => {
    let found = known.get(name);
    if (found === undefined) {
      found = find(name, sources);
      known.set(name, found);
    }
    return found;
  };
}

function find(name: string, sources: readonly ScalarSource[]): DatabaseScalarInfo | null {
  for (const source of sources) {
    const { backend, namingConvention } = source;
    for (const type of candidates(name, source)) {
      if (sharedTypeName(namingConvention, backend.types.scalar(type).graphql) !== name) continue;
      return { kind: 'database-scalar', name, description: null, types: backend.types, namingConvention, type };
    }
  }
  return null;
}

/** Yields the types of the kind of database, then those of columns. */
function* candidates(name: string, { backend, catalog }: ScalarSource) {
  const type = backend.types.named(name);
  if (type !== null) yield type;
  for (const table of catalog?.tables.values() ?? []) {
    for (const column of table.columns) if (!column.type.array) yield column.type;
  }
}
