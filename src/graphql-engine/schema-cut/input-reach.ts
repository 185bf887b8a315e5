/**
 * Input objects that stay whole because a variable may have them. A filter such as `task_bool_exp` reaches the filters of all related tables,
 * and through them those of the whole database, so the number of levels is limited.
 */
import type { IntrospectionInputObjectType, IntrospectionInputValue } from 'graphql';
import type { Cooperative } from '../../util/cooperative.ts';
import { isLeaf, isRequired, namedRef } from './type-parts.ts';
import type { Usage } from './usage.ts';

interface Owner {
  readonly type: IntrospectionInputObjectType;
  /** True if it has no level of its own, so that each of its objects has one. */
  readonly isWrapper: boolean;
}

/**
 * Returns the input objects within `depth` levels of the types of variables. Flat objects (comparisons, columns of an update) and wrappers
 * (`data` and `on_conflict` of a nested insert) have no level of their own. A required field leads to its object at every level. Part of a
 * part is the same: cutting makes objects flat, but never makes one cost more levels.
 */
export function* reachedInputs(variableTypes: Iterable<string>, depth: number, usage: Usage): Cooperative<ReadonlySet<string>> {
  const reached = new Set<string>();
  const levels: Owner[][] = [[]];
  const wrappersAtLimit = new Set<string>();
  const classOf = createClassification(usage);
  const add = (name: string, level: number, isWrapper: boolean): void => {
    const type = usage.find(name);
    if (reached.has(name) || type?.kind !== 'INPUT_OBJECT') return;
    reached.add(name);
    levels[level] ??= [];
    levels[level].push({ type, isWrapper });
  };
  for (const name of variableTypes) add(name, 0, false);
  for (let level = 0; level < levels.length; level++) {
    const further: string[] = [];
    // The list grows while it is read.
    for (const owner of levels[level] ?? [])
      for (const field of owner.type.inputFields) {
        const { kind, name } = namedRef(field.type);
        if (kind !== 'INPUT_OBJECT' || reached.has(name)) continue;
        const found = owner.isWrapper ? 'level' : classOf(name);
        if (found === 'flat') add(name, level, false);
        else if (level < depth && found === 'wrapper') add(name, level, true);
        else if (level < depth) further.push(name);
        else if (isRequired(field)) add(name, level, false);
        else if (found === 'wrapper') wrappersAtLimit.add(name);
        yield;
      }
    for (const name of further) add(name, level + 1, false);
  }
  addClosed(wrappersAtLimit, reached, usage);
  return reached;
}

/** Adds wrappers whose objects have been reached on other paths. Others lead beyond the limit, or to nothing. */
function addClosed(wrappers: ReadonlySet<string>, reached: Set<string>, usage: Usage): void {
  const isReached = ({ type }: IntrospectionInputValue) => reached.has(namedRef(type).name);
  for (const name of wrappers) {
    const fields = inputFieldsOf(name, usage) ?? [];
    if (fields.some(isReached) && fields.filter(isRequired).every(isReached)) reached.add(name);
  }
}

type InputClass = 'flat' | 'wrapper' | 'level';

/** Classifies each input object once: many filters lead to the same tables. */
function createClassification(usage: Usage): (name: string) => InputClass {
  const known = new Map<string, InputClass>();
  return (name) => {
    const found = known.get(name) ?? classify(name, usage);
    known.set(name, found);
    return found;
  };
}

/**
 * A flat object has scalars and enums only, or also optional objects of such objects (casts of JSON). A wrapper has only objects, and is
 * not one of them: filters contain themselves in `_and`.
 */
function classify(name: string, usage: Usage): InputClass {
  const fields = inputFieldsOf(name, usage) ?? [];
  if (isFlatList(name, usage) || fields.every(({ type }) => isLeaf(namedRef(type)) || isFlatList(namedRef(type).name, usage)))
    return 'flat';
  return fields.some(({ type }) => isLeaf(namedRef(type)) || namedRef(type).name === name) ? 'level' : 'wrapper';
}

function isFlatList(name: string, usage: Usage): boolean {
  return (inputFieldsOf(name, usage) ?? []).every((field) => {
    if (isRequired(field) || isLeaf(namedRef(field.type))) return false;
    return inputFieldsOf(namedRef(field.type).name, usage)?.every(({ type }) => isLeaf(namedRef(type))) ?? false;
  });
}

function inputFieldsOf(name: string, usage: Usage): readonly IntrospectionInputValue[] | undefined {
  const type = usage.find(name);
  return type?.kind === 'INPUT_OBJECT' ? type.inputFields : undefined;
}
