import type { Path } from '../util/path.ts';

/** Prints the names of the fields that lead to one, e.g. `author.articles`. */
export function printFieldPath(path: Path): string {
  const names: string[] = [];
  for (let place = path; place.parent !== undefined; place = place.parent) {
    if (typeof place.key === 'string' && place.key !== 'selectionSet') names.unshift(place.key);
  }
  return names.join('.');
}
