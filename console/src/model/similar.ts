import { nearest } from '../../../packages/model/nearest.ts';

/** Names the nearest of some names, as a sentence with a leading space; empty if none is near. */
export function similarTo(name: string, known: Iterable<string>): string {
  const found = nearest(name, known);
  return found === undefined ? '' : ` Similar: ${found}.`;
}
