import type { Metadata } from '../metadata/metadata.ts';

const NAMED = /\b(?:query|mutation|subscription)\s+([A-Za-z_]\w*)/g;
const known = new WeakMap<Metadata['queryCollections'], ReadonlySet<string>>();

/** Tells whether an operation of this name is in some query collection, now. */
export function collectedOperations(state: {
  current(): { readonly metadata: Pick<Metadata, 'queryCollections'> };
}): (name: string) => boolean {
  return (name) => {
    const { queryCollections } = state.current().metadata;
    let names = known.get(queryCollections);
    if (names === undefined) {
      const texts = [...queryCollections.values()].flatMap(({ queries }) => [...queries.values()].map(({ query }) => query));
      names = new Set(texts.flatMap((text) => [...text.matchAll(NAMED)].map(([, found]) => found ?? '')));
      known.set(queryCollections, names);
    }
    return names.has(name);
  };
}
