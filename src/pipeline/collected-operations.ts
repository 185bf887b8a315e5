import type { Metadata } from '../metadata/metadata.ts';

const NAMED = /\b(?:query|mutation|subscription)\s+([A-Za-z_]\w*)/g;
const cache = new WeakMap<Metadata['queryCollections'], ReadonlySet<string>>();

/** Returns a function that checks whether a query collection of the current metadata has an operation of this name. */
export function collectedOperations(state: {
  current(): { readonly metadata: Pick<Metadata, 'queryCollections'> };
}): (name: string) => boolean {
  return (name) => {
    const { queryCollections } = state.current().metadata;
    let names = cache.get(queryCollections);
    if (names === undefined) {
      const texts = [...queryCollections.values()].flatMap(({ queries }) => [...queries.values()].map(({ query }) => query));
      names = new Set(texts.flatMap((text) => [...text.matchAll(NAMED)].map(([, found]) => found ?? '')));
      cache.set(queryCollections, names);
    }
    return names.has(name);
  };
}
