/**
 * Input objects that stay whole because a variable may have them. A filter such as `task_bool_exp` reaches the filters of all related tables,
 * and through them those of the whole database, so the number of levels is limited.
 */
import type { InputShape } from './schema-reader.ts';
import { isLeaf, isRequired, namedRef } from './type-parts.ts';
import type { Usage } from './usage.ts';

/**
 * Returns the input objects within `depth` levels of the types of variables. No level of their own have flat objects, which contain scalars
 * and enums only (comparisons, columns of an update), and wrappers, which contain neither these nor flat objects (`data` and `on_conflict` of
 * a nested insert). A required field leads to its object at every level.
 */
export function reachedInputs(variableTypes: Iterable<string>, depth: number, usage: Usage): ReadonlySet<string> {
  const reached = new Set<string>();
  const levels: string[][] = [[]];
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
        // Most neighbours are tables further away, of which only the classification is read.
        const shape = usage.shape(name);
        if (shape == null) continue;
        if (isFlat(shape) || isWrapper(shape, usage)) add(name, level);
        else if (level < depth) further.push(name);
        else if (isRequired(field)) add(name, level);
      }
    }
    for (const name of further) add(name, level + 1);
  }
  return reached;
}

type Shape = NonNullable<InputShape['inputFields']>;

function isFlat(fields: Shape): boolean {
  return fields.every(({ type }) => isLeaf(namedRef(type)));
}

function isWrapper(fields: Shape, usage: Usage): boolean {
  const names: string[] = [];
  for (const { type } of fields) {
    const ref = namedRef(type);
    if (isLeaf(ref)) return false;
    names.push(ref.name);
  }
  const unread = names.filter((name) => !usage.hasShape(name));
  const isFlatName = (name: string): boolean => {
    const shape = usage.shape(name);
    return shape != null && isFlat(shape);
  };
  if (names.some((name) => !unread.includes(name) && isFlatName(name))) return false;
  for (const name of unread) usage.shape(name);
  // Not before all of them have been read.
  return unread.length === 0;
}
