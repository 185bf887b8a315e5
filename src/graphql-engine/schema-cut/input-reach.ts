/**
 * Input objects that stay whole because a variable may have them. A filter such as `task_bool_exp` reaches the filters of all related tables,
 * and through them those of the whole database, so the number of levels is limited.
 */
import type { IntrospectionInputObjectType } from 'graphql';
import type { Cooperative } from '../../util/cooperative.ts';
import { isLeaf, isRequired, namedRef } from './type-parts.ts';
import type { Usage } from './usage.ts';

/**
 * Returns the input objects within `depth` levels of the types of variables. No level of their own have flat objects, which contain scalars
 * and enums only (comparisons, columns of an update), and wrappers, which contain neither these nor flat objects (`data` and `on_conflict` of
 * a nested insert). A required field leads to its object at every level.
 */
export function* reachedInputs(variableTypes: Iterable<string>, depth: number, usage: Usage): Cooperative<ReadonlySet<string>> {
  const reached = new Set<string>();
  const levels: string[][] = [[]];
  const isFree = createIsFree(usage);
  const add = (name: string, level: number): void => {
    if (reached.has(name)) return;
    reached.add(name);
    levels[level] ??= [];
    levels[level].push(name);
  };
  for (const name of variableTypes) if (usage.find(name)?.kind === 'INPUT_OBJECT') add(name, 0);
  for (let level = 0; level < levels.length; level++) {
    const further: string[] = [];
    // The list grows while it is read.
    for (const owner of levels[level] ?? []) {
      const type = usage.find(owner);
      if (type?.kind !== 'INPUT_OBJECT') continue;
      for (const field of type.inputFields) {
        const { kind, name } = namedRef(field.type);
        if (kind !== 'INPUT_OBJECT' || reached.has(name)) continue;
        if (isFree(name)) add(name, level);
        else if (level < depth) further.push(name);
        else if (isRequired(field)) add(name, level);
        yield;
      }
    }
    for (const name of further) add(name, level + 1);
  }
  return reached;
}

/** Returns a function that is true for flat objects and wrappers. Each is classified once: many filters lead to the same tables. */
function createIsFree(usage: Usage): (name: string) => boolean {
  const known = new Map<string, boolean>();
  const inputOf = (name: string): IntrospectionInputObjectType | undefined => {
    const type = usage.find(name);
    return type?.kind === 'INPUT_OBJECT' ? type : undefined;
  };
  const isFlat = (name: string): boolean => inputOf(name)?.inputFields.every(({ type }) => isLeaf(namedRef(type))) ?? false;
  const isWrapper = (name: string): boolean =>
    inputOf(name)?.inputFields.every(({ type }) => {
      const ref = namedRef(type);
      return !isLeaf(ref) && !isFlat(ref.name);
    }) ?? false;
  return (name) => {
    const free = known.get(name) ?? (isFlat(name) || isWrapper(name));
    known.set(name, free);
    return free;
  };
}
