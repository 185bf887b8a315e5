/**
 * Suggestions for names that do not exist. Candidates come from the role's schema only, so that names hidden from the role and names
 * that do not exist get the same suggestions.
 */
import type { SvcErrorOptions } from '../errors/svc-error.ts';
import { nearestNames } from '../model/nearest.ts';
import { type AbstractType, type ObjectType, outputField } from './types.ts';

const MAX_SUGGESTIONS = 3;
/** Near names of an object type that are tried as fields: the names of a root may contain some without a field. */
const MAX_TRIED = 12;

export type Suggestions = Pick<SvcErrorOptions, 'suggestions'>;

/** Returns the error option with the names that resemble an unknown one. */
export function suggest(name: string, known: () => Iterable<string>): Suggestions {
  return { suggestions: () => nearestNames(name, known(), MAX_SUGGESTIONS) };
}

/** Returns the error option with the fields of an output type that resemble an unknown one. */
export function suggestFields(name: string, type: ObjectType | AbstractType): Suggestions {
  if (type.kind === 'union') return {};
  const names = type.kind === 'object' ? type.names : undefined;
  if (type.kind === 'interface' || names === undefined) return suggest(name, () => type.fields().keys());
  return {
    suggestions: () => {
      const near = nearestNames(name, names(), MAX_TRIED).filter((each) => outputField(type, each) !== undefined);
      return near.slice(0, MAX_SUGGESTIONS);
    },
  };
}
