/** The scalars of a kind of database, each described once. */
import type { CatalogType } from '../../catalog/catalog.ts';
import type { ScalarType } from '../../backend/type-system.ts';

export interface ScalarTable<S extends ScalarType> {
  /** The scalar of a type; of an array, that of its elements. The same object for the same type. */
  scalar(type: CatalogType): S;
  /** As `TypeSystem.named`. */
  named(graphql: string): CatalogType | null;
}

/** @param builtIn types that scalars are found of by their names: the first of several of one name */
export function scalarTable<S extends ScalarType>(describe: (type: CatalogType) => S, builtIn: readonly CatalogType[]): ScalarTable<S> {
  const known = new Map<string, S>();
  const scalar = (type: CatalogType): S => {
    const key = `${type.kind}\u0000${type.schema}\u0000${type.name}`;
    let found = known.get(key);
    if (found === undefined) {
      found = describe(type);
      known.set(key, found);
    }
    return found;
  };
  const byGraphqlName = new Map<string, CatalogType>();
  for (const type of builtIn) {
    const { graphql } = scalar(type);
    if (!byGraphqlName.has(graphql)) byGraphqlName.set(graphql, type);
  }
  return { scalar, named: (graphql) => byGraphqlName.get(graphql) ?? null };
}
