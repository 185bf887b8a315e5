/** Compares the row filters of a permission before and after a change. */
import { canonical } from '../project/directory/sections.ts';
import { isJsonArray, isJsonObject, type Json } from '../util/json.ts';

/** Returns `wider` if the second filter admits every row that the first one admits, and maybe more; `other` if that is not known. */
export function compareFilters(before: Json | undefined, after: Json | undefined): 'same' | 'wider' | 'narrower' | 'other' {
  const [one, other] = [conditionsOf(before), conditionsOf(after)];
  const [isWithin, contains] = [[...other].every((each) => one.has(each)), [...one].every((each) => other.has(each))];
  if (isWithin && contains) return 'same';
  return isWithin
    ? 'wider'
    : contains
      ? 'narrower'
      : isAlternative(before, after)
        ? 'wider'
        : isAlternative(after, before)
          ? 'narrower'
          : 'other';
}

/** Returns the conditions that all have to hold. Without a filter there are none. */
function conditionsOf(filter: Json | undefined): ReadonlySet<string> {
  if (!isJsonObject(filter)) return new Set();
  return new Set(
    Object.entries(filter).flatMap(([key, value]) =>
      key === '_and' && isJsonArray(value) ? value.flatMap((each) => [...conditionsOf(each)]) : [canonical({ [key]: value })],
    ),
  );
}

/** Returns whether a filter is one of the alternatives of the other. */
function isAlternative(filter: Json | undefined, other: Json | undefined): boolean {
  if (!isJsonObject(other) || !isJsonArray(other['_or']) || Object.keys(other).length !== 1) return false;
  return other['_or'].some((each) => compareFilters(filter, each) === 'same');
}
