/** Scalars of a kind of database, cached by type. */
import type { CatalogType } from '../../catalog/catalog.ts';
import type { ScalarType } from '../../backend/type-system.ts';

export interface ScalarTable<S extends ScalarType> {
  /** Returns the scalar of a type; for an array, the scalar of its elements; always the same object for a type. */
  scalar(type: CatalogType): S;
  /** See `TypeSystem.named`. */
  named(graphql: string): CatalogType | null;
}

/** @param builtIn types that `named` finds; the first of several with the same scalar */
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
